package meter

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/internal/progress"
)

// Long work shows its progress and the remaining time. Short work shows nothing.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := &Meter{Gauge: new(progress.Gauge), what: "export", unit: "records", w: &out, onTerminal: true, stop: make(chan struct{})}
		m.Total.Store(100)
		m.running.Go(m.show)
		m.Done.Store(20)
		time.Sleep(900 * time.Millisecond) // on the bubble's clock, like everything below
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("after 0.9 s: %q", out.String())
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		m.PrintAbove(func() { out.WriteString("one failed\n") })
		m.End()
		if !strings.Contains(out.String(), "\r\x1b[Kexport: 20 of 100 records, 8 s left") || !strings.HasSuffix(out.String(), "left\r\x1b[Kone failed\n") {
			t.Errorf("%q", out.String())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := Start(&out, true, new(progress.Gauge), "import", "kB")
		if n, err := io.Copy(io.Discard, m.Reader(strings.NewReader(strings.Repeat("x", 2500)))); n != 2500 || err != nil {
			t.Error(n, err)
		}
		w := m.Writer(io.Discard)
		for range 5 {
			if n, err := w.Write(make([]byte, 1999)); n != 1999 || err != nil {
				t.Error(n, err)
			}
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		m.End()
		if out.String() != `{"progress":{"what":"import","unit":"kB","done":11,"seconds":1}}`+"\n" {
			t.Errorf("%q", out.String())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		m := Start(&out, false, new(progress.Gauge), "verify", "") // into a file
		time.Sleep(time.Minute)
		m.End()
		if out.Len() > 0 {
			t.Errorf("%q", out.String())
		}
	})
	synctest.Test(t, func(t *testing.T) { // pieces of unequal size: no time is foretold
		var out bytes.Buffer
		m := &Meter{Gauge: new(progress.Gauge), what: "open", unit: "extractors", w: &out, onTerminal: true, stop: make(chan struct{})}
		m.WithoutEstimate()
		m.Total.Store(3)
		m.running.Go(m.show)
		m.Done.Store(1)
		time.Sleep(40*time.Second + 100*time.Millisecond)
		synctest.Wait()
		m.End()
		if !strings.Contains(out.String(), "\r\x1b[Kopen: 1 of 3 extractors, 40 s\r") || strings.Contains(out.String(), "left") {
			t.Errorf("%q", out.String())
		}
	})
	for _, c := range []struct {
		json bool
		take time.Duration
		want string
	}{{false, 1900 * time.Millisecond, ""}, {false, time.Minute, "It takes a while.\n"}, {true, 1900 * time.Millisecond, `{"progress":{"what":"open","done":0,"seconds":1}}` + "\n"}} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			m := Start(&out, c.json, new(progress.Gauge), "open", "")
			m.Explain(&out, "It takes a while.")
			time.Sleep(c.take)
			synctest.Wait()
			m.End()
			if out.String() != c.want {
				t.Errorf("%v, %s: %q, want %q", c.json, c.take, out.String(), c.want)
			}
		})
	}
	for want, p := range map[string]sofar{
		"import: 0 of 40 texts, 3 s": {What: "import", Unit: "texts", Total: 40, Seconds: 3}, "verify: 12 s": {What: "verify", Seconds: 12}, "export: 3 records, 2 s": {What: "export", Unit: "records", Done: 3, Seconds: 2}} {
		if p.String() != want {
			t.Errorf("%q, want %q", p, want)
		}
	}
}
