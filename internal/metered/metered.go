// Package metered finds out whether the network that this machine uses costs by the byte.
package metered

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// NetworkManager asks the service of that name, over D-Bus, about this machine's network.
type NetworkManager struct {
	Bus string // D-Bus address; empty: the system bus
}

const (
	managerName  = "org.freedesktop.NetworkManager"
	managerPath  = dbus.ObjectPath("/org/freedesktop/NetworkManager")
	propsGet     = "org.freedesktop.DBus.Properties.Get"
	managerAsked = 2 * time.Second
)

// The values of NMMetered (NetworkManager's D-Bus API, "Types and Values").
const (
	unknown  = 0
	yes      = 1
	guessYes = 3 // e.g. for a phone's hotspot
	guessNo  = 4
)

// Metered reports whether the network costs by the byte, because NetworkManager was told so, or
// guesses it. It returns an error if nobody answers within 2 s.
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
	return v == yes || v == guessYes, errors.Join(err, bus.Close())
}

func property(ctx context.Context, bus *dbus.Conn) (uint32, error) {
	var v dbus.Variant
	if err := bus.Object(managerName, managerPath).CallWithContext(ctx, propsGet, 0, managerName, "Metered").Store(&v); err != nil {
		return unknown, fmt.Errorf("NetworkManager: Metered: %w", err)
	}
	n, ok := v.Value().(uint32)
	if !ok || n > guessNo {
		return unknown, fmt.Errorf("NetworkManager: Metered is %s, want 0 to %d", v, guessNo)
	}
	return n, nil
}

// Line caches NetworkManager's answer for half a minute, and for five minutes that the network
// costs while NetworkManager does not answer. It is safe for concurrent use.
type Line struct {
	Manager NetworkManager
	Now     func() time.Time
	Changed func(costs bool) // called after a change; nil: nobody

	mu    sync.Mutex
	asked time.Time // guarded by mu, as is everything below
	known time.Time // when NetworkManager last answered
	costs bool
}

const (
	believed = 30 * time.Second // how long an answer is used
	kept     = 5 * time.Minute  // how long it is remembered that the network costs, as while NetworkManager restarts
)

// Costs reports whether the network costs by the byte. If nobody knows, it does not. It may take 2
// s. If ctx ends before there is an answer, it returns the last one, and asks again the next time.
func (l *Line) Costs(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	if passed := now.Sub(l.asked); !l.asked.IsZero() && passed >= 0 && passed < believed {
		return l.costs
	}
	was := l.costs
	costs, err := l.Manager.Metered(ctx)
	switch passed := now.Sub(l.known); {
	case err == nil:
		l.known, l.costs = now, costs
	case ctx.Err() != nil:
		return was
	case passed < 0 || passed >= kept:
		l.costs = false
	}
	l.asked = now
	if l.costs != was && l.Changed != nil {
		l.Changed(l.costs)
	}
	return l.costs
}
