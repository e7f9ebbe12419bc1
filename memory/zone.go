package memory

import (
	"sync/atomic"
	"time"
)

// ZoneName returns a time zone's IANA name. It is empty for [time.Local], which is whatever this
// machine is set to.
func ZoneName(z *time.Location) string {
	if name := z.String(); name != "Local" {
		return name
	}
	return ""
}

// lastZone is the zone that [ZoneOr] read last. It is kept because one wearer stays in one zone for
// long, and each lookup reads a file, or all the zones in the program.
var lastZone atomic.Pointer[time.Location]

// ZoneOr returns the zone with an IANA name, or other if the name is empty or unknown. It is safe
// for concurrent use.
func ZoneOr(name string, other *time.Location) *time.Location {
	if name == "" {
		return other
	}
	if z := lastZone.Load(); z != nil && z.String() == name {
		return z
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return other
	}
	lastZone.Store(z)
	return z
}
