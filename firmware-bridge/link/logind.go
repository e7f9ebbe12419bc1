package link

import (
	"context"
	"errors"

	"github.com/godbus/dbus/v5"
)

// logind knows about lock screens that report to it.
type logind struct{ bus *dbus.Conn } // nil: there is none

// dialLogind connects to logind, at a D-Bus address; empty: the system bus.
func dialLogind(ctx context.Context, bus string) (l logind) {
	var err error
	if bus == "" {
		l.bus, err = dbus.ConnectSystemBus(dbus.WithContext(ctx))
	} else {
		l.bus, err = dbus.Connect(bus, dbus.WithContext(ctx))
	}
	if err != nil {
		l.bus = nil // e.g. a machine without systemd
	}
	return l
}

// locked reports whether the session is locked, as far as logind knows.
func (l logind) locked(ctx context.Context) (bool, error) {
	if l.bus == nil {
		return false, nil
	}
	var v dbus.Variant
	err := l.bus.Object("org.freedesktop.login1", "/org/freedesktop/login1/session/auto").
		CallWithContext(ctx, propsIface+".Get", 0, "org.freedesktop.login1.Session", "LockedHint").Store(&v)
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, dbus.ErrClosed) {
			return false, err
		}
		return false, nil // no logind, or this is not one of its sessions
	}
	on, ok := v.Value().(bool)
	return ok && on, nil
}

func (l logind) close() {
	if l.bus != nil {
		_ = l.bus.Close() // no more questions will be asked
	}
}
