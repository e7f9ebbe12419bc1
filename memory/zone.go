package memory

import "time"

// ZoneName is a time zone's name in the IANA's list; empty: it has none that others would
// know, because it is whatever this machine is set to.
func ZoneName(z *time.Location) string {
	if name := z.String(); name != "Local" {
		return name
	}
	return ""
}
