package limitless

import (
	"context"
	"testing"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/carry"
	frame "github.com/locket-dev/locket/firmware-bridge/frame/limitless"
	"github.com/locket-dev/locket/firmware-bridge/link"
)

// deaf is a connection to a pendant that takes every command.
type deaf struct{ link.Device }

func (deaf) Write(context.Context, string, []byte) error { return nil }

// A page that can't be read is reported once, and is asked for less and less often: the pendant sends
// all pages after it each time, and no live sound meanwhile.
func TestUnreadablePageIsAskedForLessOften(t *testing.T) {
	c := &carry.Conn{Report: &carry.Report{}, Dev: deaf{}, Now: time.Unix(1773489600, 0)}
	c.FirstWait, c.OnNote = time.Second, func(carry.Note) {}
	d := newDownload(&session{Conn: c})
	read := func(page uint64) time.Duration {
		t.Helper()
		d.asking = true
		if err := d.status(t.Context(), frame.Status{Oldest: page, Newest: page, All: 10}); err != nil {
			t.Fatal(err)
		}
		if err := d.page(t.Context(), &frame.Page{Index: page}, frame.ErrNoSound); err != nil {
			t.Fatal(err)
		}
		return d.until.Sub(c.Now)
	}
	want := 10 * time.Minute
	for i := range 12 {
		if got := read(1000); got != want {
			t.Errorf("after %d tries: %s, want %s", i+1, got, want)
		}
		want = min(2*want, 24*time.Hour)
	}
	if c.Report.Spoilt != 1 {
		t.Errorf("it was reported %d times", c.Report.Spoilt)
	}
	if got := read(1001); got != 10*time.Minute || c.Report.Spoilt != 2 {
		t.Errorf("another page: %s, %+v", got, c.Report)
	}
}
