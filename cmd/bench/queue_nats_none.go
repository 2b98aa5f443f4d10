//go:build min || nonats

package main

func natsKinds() []kind { return nil }
