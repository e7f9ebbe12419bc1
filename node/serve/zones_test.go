package serve_test

import (
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/zones"
)

// privateZones can be set and removed while the node is open; locked, it shows
// them.
func privateZones(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	z, err := c.AddZone(ctx, zones.Zone{Name: "Night", Window: "Daily 22:00-7:00"})
	if err != nil || z.Window != "daily 22:00-07:00" {
		t.Fatalf("%+v, %v", z, err)
	}
	home := zones.Zone{Name: "home / garden", Lat: 38.7, Lon: -9.1, Radius: 150}
	if _, err := c.AddZone(ctx, home); err != nil {
		t.Fatal(err)
	}
	_, err = c.AddZone(ctx, zones.Zone{Name: "NIGHT", Place: "the clinic"})
	want(t, err, serve.ErrConflict)
	for _, bad := range []zones.Zone{{}, {Name: "x"}, {Name: "x", Window: "sometimes"}, {Name: "x", Window: "daily 25:00-26:00"}, {Name: "x", Radius: -1},
		{Name: "x", Radius: 10, Lat: 91}, {Name: "x", Radius: 10, Place: "y"}, {Name: "x", Lat: 3}} {
		_, err := c.AddZone(ctx, bad)
		want(t, err, memory.ErrInvalid)
	}
	a, err := c.Zones(ctx)
	if err != nil || len(a.Zones) != 2 || a.Zones[1].Radius != home.Radius || a.Zones[1].Name != home.Name {
		t.Fatalf("%+v, %v", a, err)
	}
	if s, err := c.Status(ctx); err != nil || s.Private.Zones != 2 {
		t.Fatalf("%+v, %v", s.Private, err)
	}
	if _, err := c.Lock(ctx); err != nil {
		t.Fatal(err)
	}
	if a, err := c.Zones(ctx); err != nil || len(a.Zones) != 2 {
		t.Fatalf("locked: %+v, %v", a, err)
	}
	_, err = c.AddZone(ctx, zones.Zone{Name: "day", Window: "daily 7:00-22:00"})
	want(t, err, memory.ErrLocked)
	_, err = c.RemoveZone(ctx, "night")
	want(t, err, memory.ErrLocked)
	if _, err := c.Unlock(ctx, nodetest.Passphrase); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{home.Name, "night"} {
		if _, err := c.RemoveZone(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	_, err = c.RemoveZone(ctx, "night")
	want(t, err, memory.ErrNotFound)
}
