package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/internal/player"
	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// figures returns what the panel of the disk space shows for photos and recordings: how many
// are here, and how many are only at the relay.
const figures = `[...document.querySelectorAll(".room dd")].slice(3, 5).map(d => parseInt(d.innerText))`

// counts formats two figures as the page's script writes them in a list.
func counts(here, away int) string { return fmt.Sprintf("'[%d,%d]'", here, away) }

// livedThen makes a home that processed the day of testdata/day a given time ago by its own
// clock, because memories learnt less than a day ago stay on the device.
func livedThen(t *testing.T, home string, ago time.Duration) {
	t.Helper()
	if _, err := command(home, initial...); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Sources{Flags: []config.Flag{{Key: "home", Value: home}, {Key: "disk.reserve", Value: "64MB"}, {Key: "broker.listen", Value: "127.0.0.1:0"}}})
	if err != nil {
		t.Fatal(err)
	}
	n, err := node.Open(l.Config, node.Options{Cache: os.Getenv(plugincache.Env), Now: func() time.Time { return time.Now().Add(-ago) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	ctx, stop := context.WithTimeout(t.Context(), 3*patience) // its first start compiles the plugins
	defer stop()
	if ok, err := n.UnlockAsConfigured(ctx); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := n.Start(ctx); err != nil {
		t.Fatal(err)
	}
	d, err := day.Fixed()
	if err != nil {
		t.Fatal(err)
	}
	c := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	events, url, passwords := slices.Collect(d.Events()), "", map[string]string{}
	for _, e := range events {
		if passwords[e.ID.Device] != "" {
			continue
		}
		w, err := c.AddDevice(ctx, e.ID.Device)
		if err != nil {
			t.Fatal(err)
		}
		url, passwords[e.ID.Device] = w.Broker, string(w.Password)
	}
	if rep, err := player.Play(ctx, player.Config{URL: url, Password: func(device string) string { return passwords[device] }}, events); err != nil || rep.Acked != len(events) {
		t.Fatalf("%+v, %v", rep, err)
	}
	if err := errors.Join(lived(ctx, c), n.Stop(ctx)); err != nil {
		t.Fatal(err)
	}
}

// One button moves the photos of a real day to a real relay, another fetches them back; the
// figures and the files show it before and after.
func TestPhotosMovedToTheRelay(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	livedThen(t, home, 72*time.Hour)
	c := ofHome(t, home, "--set", "hot.bytes=60kB", "--set", "sync.relay="+relayAt)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for { // until everything is at the relay
		s, err := c.SyncNow(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if s.Pending == 0 && s.Error == "" {
			break
		}
		if !wait.For(ctx, 50*time.Millisecond) {
			t.Fatalf("%+v", s)
		}
	}
	blobs := func() (paths []string) {
		t.Helper()
		paths, err := filepath.Glob(filepath.Join(home, "store", "blobs", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	before, err := c.Tiers(t.Context())
	if err != nil || before.Media < 4 || before.ColdMedia != 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	files := len(blobs())          // with those that belong to no memory, such as what a relay is to get
	for _, path := range blobs() { // pretend that they came more than a day ago
		old := time.Now().Add(-25 * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}

	b := openAt(t, plain, linkOf(t, home).URL)
	b.visit("/devices", ".room dd")
	b.until(`JSON.stringify(` + figures + `) === ` + counts(before.Media, 0))
	b.do(chromedp.ScrollIntoView(".room"))
	b.shoot("room-before")
	b.press(".room [data-does=moveTiers]")
	b.until(figures + `[1] > 0`)
	b.until(`JSON.stringify(` + figures + `) === ` + counts(1, before.Media-1)) // the page shows each step of it
	cooled, err := c.Tiers(t.Context())                                         // the recording waits for a transcript, and stays
	if err != nil || cooled.Media != 1 || cooled.ColdMedia != before.Media-1 || len(blobs()) != files-cooled.ColdMedia || cooled.ColdMediaBytes == 0 {
		t.Fatalf("%+v of %+v, %d files, %v", cooled, before, len(blobs()), err)
	}
	b.until(`JSON.stringify(` + figures + `) === ` + counts(cooled.Media, cooled.ColdMedia))
	b.accessible("room-cooled")
	b.shoot("room-cooled")

	onPhone(t, home, "room-cooled", ".room")
	b.do(chromedp.Focus(".room [data-act=photos]"), chromedp.KeyEvent(kb.Enter))
	b.says("All photos and recordings are here; " + strconv.Itoa(cooled.ColdMedia))
	b.until(`JSON.stringify(` + figures + `) === ` + counts(before.Media, 0))
	b.shoot("room-after")
	if after, err := c.Tiers(t.Context()); err != nil || after.Media != before.Media || after.ColdMedia != 0 || len(blobs()) != files || after.MediaBytes != before.MediaBytes {
		t.Errorf("%+v of %+v, %d files, %v", after, before, len(blobs()), err)
	}
	// The memories moved with them are fetched back by their own button.
	if cooled.Cold == 0 {
		t.Fatalf("no memory is packed: %+v", cooled)
	}
	b.do(chromedp.Evaluate(`[...document.querySelectorAll(".room button")].find(x => x.innerText === "Fetch all memories").click()`, nil))
	b.says(strconv.Itoa(cooled.Cold) + " memories fetched.")
	var after serve.Tiers
	if after, err = c.Tiers(t.Context()); err != nil || after.Cold != 0 {
		t.Errorf("%+v, %v", after, err)
	}
}
