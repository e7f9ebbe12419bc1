// Package zones decides what may not be recorded: the wearer's private zones.
//
// The words:
//
//   - A zone is a window of time, a place, or both at once, in which nothing about
//     the wearer is taken in.
//   - A window is a span of the clock on days of the week: "mon-fri 22:00-07:00".
//   - A place is a circle on the earth, or a name that a device gives to the place where
//     it is.
//   - A fix is what a location event says: where the wearer was, and when.
//   - The gate checks each event against the zones, by when and where it happened,
//     not by when it arrived: what a device had stored in a zone is dropped, too.
package zones

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
)

// Zone is a window, a place, or both. If both are set, both must hold.
type Zone struct {
	Name   string  `json:"name"`
	Window string  `json:"window,omitempty"` // such as "daily 22:00-07:00", "mon-fri 9:00-17:00", "sat,sun" or "weekends"; empty: always
	Lat    float64 `json:"lat,omitempty"`    // for a circle: degrees north, WGS 84
	Lon    float64 `json:"lon,omitempty"`    // degrees east
	Radius float64 `json:"radius,omitempty"` // metres; 0: no circle
	Place  string  `json:"place,omitempty"`  // a place's name, as devices report it

	window window
}

// Limits of a zone.
const (
	maxRadius = 100_000 // metres: a region; more is a mistake
	MaxZones  = 64
)

// Check parses the window, and reports the first rule that the zone breaks.
func (z *Zone) Check() error {
	bad := func(field, format string, args ...any) error {
		return fmt.Errorf("%w: %s: %s", memory.ErrInvalid, field, fmt.Sprintf(format, args...))
	}
	switch {
	case memory.Normal(z.Name) == "" || len(z.Name) > memory.MaxName || !utf8.ValidString(z.Name):
		return bad("name", "want 1 to %d bytes", memory.MaxName)
	case z.Window == "" && z.Radius == 0 && z.Place == "":
		return bad("window", "want a window, a circle or the name of a place")
	case z.Radius != 0 && z.Place != "":
		return bad("place", "beside a circle: choose one")
	case z.Radius == 0 && (z.Lat != 0 || z.Lon != 0):
		return bad("radius", "want metres")
	case !(z.Radius >= 0 && z.Radius <= maxRadius):
		return bad("radius", "%v: want metres, up to %d", z.Radius, maxRadius)
	case !(z.Lat >= -90 && z.Lat <= 90):
		return bad("lat", "%v: want degrees from -90 to 90", z.Lat)
	case !(z.Lon >= -180 && z.Lon <= 180):
		return bad("lon", "%v: want degrees from -180 to 180", z.Lon)
	case z.Place != "" && (memory.Normal(z.Place) == "" || len(z.Place) > memory.MaxName || !utf8.ValidString(z.Place)):
		return bad("place", "want 1 to %d bytes", memory.MaxName)
	}
	if z.Window == "" {
		return nil
	}
	w, err := parseWindow(z.Window)
	if err != nil {
		return err
	}
	z.window, z.Window = w, w.String()
	return nil
}

// placed reports whether a zone has a place.
func (z *Zone) placed() bool { return z.Radius > 0 || z.Place != "" }

// covers reports whether a fix is in the zone's place. For a circle it is enough
// that the fix may be inside, considering its accuracy.
func (z *Zone) covers(p *memory.Place) bool {
	if z.Place != "" {
		return memory.Normal(p.Name) == memory.Normal(z.Place)
	}
	return distance(z.Lat, z.Lon, p.Lat, p.Lon) <= z.Radius+p.Accuracy
}

// earth is the earth's mean radius in metres (IUGG).
const earth = 6_371_009

// distance returns the distance in metres on a sphere, by haversines.
func distance(lat1, lon1, lat2, lon2 float64) float64 {
	const rad = math.Pi / 180
	dLat, dLon := (lat2-lat1)*rad/2, (lon2-lon1)*rad/2
	h := math.Sin(dLat)*math.Sin(dLat) + math.Cos(lat1*rad)*math.Cos(lat2*rad)*math.Sin(dLon)*math.Sin(dLon)
	return 2 * earth * math.Asin(math.Sqrt(math.Min(1, h)))
}

// String describes a zone in words.
func (z *Zone) String() string {
	var s []string
	if z.Window != "" {
		s = append(s, z.Window)
	}
	if z.Radius > 0 {
		s = append(s, fmt.Sprintf("within %.0f m of %.5f,%.5f", z.Radius, z.Lat, z.Lon))
	}
	if z.Place != "" {
		s = append(s, "at "+z.Place)
	}
	return strings.Join(s, ", ")
}
