//go:build min || norabbitmq

package main

func rabbitmqKinds() []kind { return nil }
