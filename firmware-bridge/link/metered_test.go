package link_test

import (
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/locket-dev/locket/firmware-bridge/link"
	"github.com/locket-dev/locket/firmware-bridge/link/linktest"
)

// What NetworkManager says or guesses counts; one that is not there, or that says what it never says, is an error.
func TestNetworkManager(t *testing.T) {
	address := linktest.Bus(t)
	n := &link.NetworkManager{Bus: address}
	if yes, err := n.Metered(deadline(t)); yes || err == nil {
		t.Errorf("where nobody answers: %t, %v", yes, err)
	}
	linktest.NetworkManager(t, address)
	bus, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	manager := bus.Object("org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager")
	if yes, err := n.Metered(deadline(t)); yes || err == nil {
		t.Errorf("before 1.2, which has no such property: %t, %v", yes, err)
	}
	if err := manager.Call("org.freedesktop.DBus.Mock.AddProperty", 0, "org.freedesktop.NetworkManager", "Metered", dbus.MakeVariant(uint32(0))).Err; err != nil {
		t.Fatal(err)
	}
	for value, want := range map[uint32]struct{ yes, fails bool }{0: {}, 1: {yes: true}, 2: {}, 3: {yes: true}, 4: {}, 5: {fails: true}} {
		set := map[string]dbus.Variant{"Metered": dbus.MakeVariant(value)}
		if err := manager.Call("org.freedesktop.DBus.Mock.UpdateProperties", 0, "org.freedesktop.NetworkManager", set).Err; err != nil {
			t.Fatal(err)
		}
		if yes, err := n.Metered(deadline(t)); yes != want.yes || (err != nil) != want.fails {
			t.Errorf("%d: %t, %v", value, yes, err)
		}
	}
	if yes, err := (&link.NetworkManager{Bus: "unix:path=/nowhere/at/all"}).Metered(deadline(t)); yes || err == nil {
		t.Errorf("without a bus: %t, %v", yes, err)
	}
}
