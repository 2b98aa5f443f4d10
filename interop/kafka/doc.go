// Package kafka tests against a real Apache Kafka broker, which scripts/kafka.sh
// starts. Its tests have the build tag interop: run `make test-interop`.
package kafka
