//go:build min || nokafka

package main

// kafkaKinds are none in a program without Kafka's client.
func kafkaKinds() []kind { return nil }
