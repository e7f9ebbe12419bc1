package memory

import (
	"sync/atomic"
	"time"
)

// ZoneName is a time zone's name in the IANA's list; empty: it has none that others would
// know, because it is whatever this machine is set to.
func ZoneName(z *time.Location) string {
	if name := z.String(); name != "Local" {
		return name
	}
	return ""
}

// lastZone is what [ZoneOr] read last. One life is in one zone for long, and each reading is of a
// file, or of all the zones in the program.
var lastZone atomic.Pointer[time.Location]

// ZoneOr is the zone of a name in the IANA's list; other, if the name is empty or unknown. Several
// goroutines may call it.
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
