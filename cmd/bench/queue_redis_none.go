//go:build min || noredis

package main

func redisKinds() []kind { return nil }
