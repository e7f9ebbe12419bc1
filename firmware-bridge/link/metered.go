package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/godbus/dbus/v5"
)

// NetworkManager is asked, over D-Bus, what it knows of the network that this machine uses.
type NetworkManager struct {
	Bus string // D-Bus address; empty: the system bus
}

const (
	managerName  = "org.freedesktop.NetworkManager"
	managerPath  = dbus.ObjectPath("/org/freedesktop/NetworkManager")
	managerAsked = 2 * time.Second
)

// The values of NMMetered (NetworkManager's D-Bus API, "Types and Values").
const (
	meteredUnknown  = 0
	meteredYes      = 1
	meteredGuessYes = 3 // as of a phone's hotspot
	meteredGuessNo  = 4
)

// Metered reports whether the network costs by the byte: where NetworkManager was told so, or
// guesses it. It is an error where nobody answers within 2 s.
func (n *NetworkManager) Metered(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, managerAsked)
	defer cancel()
	var bus *dbus.Conn
	var err error
	if n.Bus == "" {
		bus, err = dbus.ConnectSystemBus(dbus.WithContext(ctx))
	} else {
		bus, err = dbus.Connect(n.Bus, dbus.WithContext(ctx))
	}
	if err != nil {
		return false, fmt.Errorf("NetworkManager: D-Bus: %w", err)
	}
	v, err := property(ctx, bus)
	return v == meteredYes || v == meteredGuessYes, errors.Join(err, bus.Close())
}

func property(ctx context.Context, bus *dbus.Conn) (uint32, error) {
	var v dbus.Variant
	if err := bus.Object(managerName, managerPath).CallWithContext(ctx, propsIface+".Get", 0, managerName, "Metered").Store(&v); err != nil {
		return meteredUnknown, fmt.Errorf("NetworkManager: Metered: %w", err)
	}
	n, ok := v.Value().(uint32)
	if !ok || n > meteredGuessNo {
		return meteredUnknown, fmt.Errorf("NetworkManager: Metered is %s, want 0 to %d", v, meteredGuessNo)
	}
	return n, nil
}
