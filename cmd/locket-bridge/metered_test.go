package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
)

// Nothing waits for a broker on this machine, even on a metered network.
func TestLocalBrokerIsNeverMetered(t *testing.T) {
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "nowhere"))
	for _, c := range []struct {
		broker, metered, capture string
		asks, costs              bool
	}{
		{broker: "tcp://127.0.0.1:1883", metered: "auto"},
		{broker: "tcp://[::1]:1883"},
		{broker: "ssl://localhost:8883"},
		{broker: "tcp://127.0.0.1:1883", metered: "yes", asks: true, costs: true},
		{broker: "tcp://house:1883", asks: true}, // where nobody knows, nothing waits
		{broker: "tcp://192.168.1.2:1883", metered: "auto", asks: true},
		{broker: "tcp://house:1883", metered: "no"},
		{broker: "tcp://house:1883", metered: "yes", capture: "c.jsonl"},
	} {
		f := deviceFlags{broker: c.broker, metered: c.metered, capture: c.capture}
		ask := f.withLine().Metered
		if (ask != nil) != c.asks || ask != nil && ask(t.Context()) != c.costs {
			t.Errorf("%+v: asks: %t", c, ask != nil)
		}
	}
}

// A network stays metered while NetworkManager does not answer.
func TestMeteredWithoutAnswer(t *testing.T) {
	address := linktest.Bus(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
	manager := linktest.NetworkManager(t, address)
	ask := (&deviceFlags{broker: "tcp://house:1883", metered: "auto"}).withLine().Metered
	for _, says := range []uint32{1, 5} { // 5 is not a value of NetworkManager
		manager.Says(t, says)
		if !ask(t.Context()) {
			t.Errorf("after %d the network is free", says)
		}
	}
}

// A key at the top of a file applies to the devices that have something that can wait.
func TestMeteredKey(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"password": "secret\n", "bridge.toml": `
broker = "tcp://house:1883"
metered = "yes"
[[device]]
family = "omi"
name = "omi"
password_file = "password"
device = "a"
[[device]]
family = "limitless"
name = "pendant"
password_file = "password"
device = "b"
metered = "no"
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, _, err := readConfig(filepath.Join(dir, "bridge.toml"))
	if err != nil || len(list) != 2 || list[0].metered != "yes" || list[1].metered != "no" {
		t.Fatalf("%v, %v", list, err)
	}
}
