//go:build unix && interop

package faults

import (
	"fmt"
	"strings"
	"testing"

	"queuebench/internal/kafkabroker"
)

const brokerName, brokerID = "Apache Kafka", "kafka"

// brokers starts one node of Apache Kafka with a listener for each of these addresses,
// which it tells the clients of that listener, and returns where the listeners are.
func brokers(t *testing.T, advertised []string) (own []string) {
	t.Helper()
	listeners, tells := []string{"PLAINTEXT://127.0.0.1:{port.PLAINTEXT}", "CONTROLLER://127.0.0.1:{port.CONTROLLER}"}, []string{"PLAINTEXT://127.0.0.1:{port.PLAINTEXT}"}
	protocols := []string{"PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT"}
	var names []string
	for i, address := range advertised {
		name := fmt.Sprintf("LINE%d", i)
		names = append(names, name)
		listeners = append(listeners, name+"://127.0.0.1:{port."+name+"}")
		tells = append(tells, name+"://"+address)
		protocols = append(protocols, name+":PLAINTEXT")
	}
	c := kafkabroker.Start(t, kafkabroker.Options{Listeners: names, Settings: []string{
		"listeners=" + strings.Join(listeners, ","),
		"advertised.listeners=" + strings.Join(tells, ","),
		"listener.security.protocol.map=" + strings.Join(protocols, ","),
	}})
	for _, name := range names {
		own = append(own, c.Bootstrap(name))
	}
	return own
}
