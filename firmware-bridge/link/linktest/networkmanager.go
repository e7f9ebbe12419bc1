package linktest

import (
	_ "embed"
	"os"
	"path/filepath"
	"testing"

	"github.com/godbus/dbus/v5"
)

//go:embed networkmanager.py
var managerTemplate []byte

// Manager is a running mock of NetworkManager.
type Manager struct {
	bus   string // D-Bus address
	added bool   // it has the property
}

// NetworkManager starts python-dbusmock's NetworkManager on a bus, until the test ends. It has no
// property Metered before Says.
func NetworkManager(t testing.TB, bus string) *Manager {
	t.Helper()
	script := filepath.Join(t.TempDir(), "networkmanager.py")
	if err := os.WriteFile(script, managerTemplate, 0o600); err != nil {
		t.Fatal(err)
	}
	mock(t, bus, script)
	return &Manager{bus: bus}
}

// Says sets whether the network is metered, with a value of type NMMetered.
func (m *Manager) Says(t testing.TB, metered uint32) {
	t.Helper()
	bus, err := dbus.Connect(m.bus)
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	const name, mock = "org.freedesktop.NetworkManager", "org.freedesktop.DBus.Mock"
	object, value := bus.Object(name, "/org/freedesktop/NetworkManager"), dbus.MakeVariant(metered)
	if m.added {
		err = object.Call(mock+".UpdateProperties", 0, name, map[string]dbus.Variant{"Metered": value}).Err
	} else {
		err = object.Call(mock+".AddProperty", 0, name, "Metered", value).Err
	}
	if err != nil {
		t.Fatal(err)
	}
	m.added = true
}
