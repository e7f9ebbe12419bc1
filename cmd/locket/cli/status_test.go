package cli

import (
	"testing"
)

// A broker that listens on every address of a machine is not shown with an address that no wearable
// can use.
func TestBrokerOnEveryAddress(t *testing.T) {
	for broker, want := range map[string]string{
		"tcp://[::]:1883": "tcp://*:1883, any address of this machine", "tcp://0.0.0.0:1883": "tcp://*:1883, any address of this machine",
		"tcp://127.0.0.1:1883": "tcp://127.0.0.1:1883", "ssl://broker.example:8883": "ssl://broker.example:8883", "": "",
	} {
		if got := EveryAddress(broker); got != want {
			t.Errorf("%q: %q, want %q", broker, got, want)
		}
	}
}
