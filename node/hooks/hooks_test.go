package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/serve"
)

// book has one hook and some changes.
type book struct {
	mu      sync.Mutex
	hook    apps.Hook
	changes []memory.Change // that the app sees
	err     error           // for the next request
	read    func()          // called once, after the hooks were read

	conflict *apps.Conflict // with each change
	ended    *apps.ShareEnd
	endErr   error // for the ends of shares
}

func (b *book) Hooks(context.Context) ([]apps.Hook, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []apps.Hook{b.hook}
	if f := b.read; f != nil {
		b.read = nil
		f()
	}
	return list, nil
}

func (b *book) NextChange(_ context.Context, h apps.Hook) (*apps.Notification, uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.err; err != nil {
		return nil, h.Cursor, err
	}
	for _, c := range b.changes {
		if c.Seq > h.Cursor {
			return &apps.Notification{Change: &c, Memory: memory.Memory{ID: c.Memory, Candidate: memory.Candidate{Text: c.New}}, Conflict: b.conflict}, c.Seq, nil
		}
	}
	return nil, h.Cursor, nil
}

func (b *book) NextShareEnd(_ context.Context, h apps.Hook) (*apps.ShareEnd, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.endErr != nil {
		return nil, b.endErr
	}
	if e := b.ended; e != nil && e.Ended.After(h.Ended) {
		return e, nil
	}
	return nil, nil
}

func (b *book) SaveHook(_ context.Context, h apps.Hook) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hook = h
	return nil
}

func (b *book) set(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

func (b *book) state() apps.Hook {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hook
}

// told is one request.
type told struct {
	id, at, signature, body string
	after                   time.Duration // since the beginning
}

// endpoint answers as configured.
type endpoint struct {
	mu    sync.Mutex
	begun time.Time
	told  []told
	say   func(n int) int // status of the nth request
}

func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	one := func(name string) string { return strings.Join(r.Header[name], ",") }
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = append(e.told, told{one("webhook-id"), one("webhook-timestamp"), one("webhook-signature"), string(b), time.Since(e.begun)})
	status := e.say(len(e.told))
	if status == 0 {
		return nil, errors.New("refused")
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Location": {"https://elsewhere.example/"}}, Body: http.NoBody, Request: r}, nil
}

func (e *endpoint) requests() []told {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.told)
}

// The secret and signature of Standard Webhooks' own test vectors.
const vectorSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestSign(t *testing.T) {
	got, err := sign(vectorSecret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if err != nil || got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := sign("whsec_!", "a", "1", nil); err == nil {
		t.Error("signed by no secret")
	}
}

// run runs a teller in a bubble.
func run(t *testing.T, b *book, say func(n int) int, f func(e *endpoint)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{begun: time.Now(), say: say}
		ctx, cancel := context.WithCancel(t.Context())
		tl := newTeller(Config{Book: b})
		tl.client.Transport = e
		done := make(chan bool)
		go func() { tl.run(ctx); close(done) }()
		f(e)
		cancel()
		<-done
	})
}

func one(seq uint64, text string) memory.Change {
	return memory.Change{Seq: seq, Memory: memory.ID{byte(seq)}, Verdict: memory.Add, New: text}
}

// A failed message is sent again with the same id, at growing intervals, and later messages
// wait.
func TestRetries(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea"), one(2, "coffee")}}
	run(t, b, func(n int) int { return []int{500, 0, 302, 200, 204}[min(n-1, 4)] }, func(e *endpoint) {
		time.Sleep(time.Hour) // with the bubble's clock, as everywhere in this file
		got := e.requests()
		if len(got) != 5 {
			t.Fatalf("%+v", got)
		}
		for i, least := range []time.Duration{0, 5 * time.Second, 5*time.Minute + 5*time.Second, 35*time.Minute + 5*time.Second} {
			if d := got[i].after - least; d < 0 || d > 10*time.Second || got[i].id != got[0].id || !strings.Contains(got[i].body, `"text":"tea"`) || !strings.Contains(got[i].body, `"type":"memory.added"`) {
				t.Errorf("try %d: %+v", i, got[i])
			}
			if want, err := sign(vectorSecret, got[i].id, got[i].at, []byte(got[i].body)); err != nil || got[i].signature != want {
				t.Errorf("try %d: %s, want %s", i, got[i].signature, want)
			}
		}
		if got[4].id == got[0].id || !strings.Contains(got[4].body, `"text":"coffee"`) {
			t.Errorf("%+v", got[4])
		}
		if h := b.state(); h.Cursor != 2 || h.Tries != 0 || h.Off != "" {
			t.Errorf("%+v", h)
		}
	})
}

// The position is stored, and sending continues from there.
func TestPositionSurvivesARestart(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea"), one(2, "coffee")}}
	run(t, b, func(n int) int { return []int{200, 500}[min(n-1, 1)] }, func(*endpoint) { time.Sleep(time.Second) })
	if h := b.state(); h.Cursor != 1 || h.Tries != 1 || h.Next.IsZero() {
		t.Fatalf("%+v", h)
	}
	// A bubble's clock starts again, so this acts as if much time had passed.
	b.set(func() { b.hook.Next = time.Time{} })
	run(t, b, func(int) int { return 200 }, func(e *endpoint) {
		time.Sleep(time.Second)
		if got := e.requests(); len(got) != 1 || !strings.Contains(got[0].body, "coffee") {
			t.Errorf("%+v", got)
		}
	})
}

// What was forgotten between two attempts is not sent any more.
func TestForgotten(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea")}}
	run(t, b, func(int) int { return 500 }, func(e *endpoint) {
		time.Sleep(time.Second)
		b.set(func() { b.changes = nil })
		time.Sleep(time.Hour)
		if got := e.requests(); len(got) != 1 {
			t.Errorf("%+v", got)
		}
		if h := b.state(); h.Tries != 0 {
			t.Errorf("%+v", h)
		}
	})
}

// An address that is gone, or that never answers, is not sent anything any more.
func TestDeadHookIsDisabled(t *testing.T) {
	for status, tries := range map[int]int{410: 1, 500: len(waits) + 1} {
		b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea")}}
		run(t, b, func(int) int { return status }, func(e *endpoint) {
			time.Sleep(4 * 24 * time.Hour)
			if got := e.requests(); len(got) != tries {
				t.Errorf("%d: told %d times", status, len(got))
			}
			if h := b.state(); h.Off == "" {
				t.Errorf("%d: %+v", status, h)
			}
		})
	}
}

// An app that has used up its tokens of the day is sent the rest later, which is not a
// failure.
func TestLimit(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea")}, err: serve.ErrLimit}
	run(t, b, func(int) int { return 200 }, func(e *endpoint) {
		time.Sleep(20 * time.Hour)
		if h := b.state(); len(e.requests()) > 0 || h.Tries != 0 || h.Off != "" {
			t.Errorf("%+v", h)
		}
		b.set(func() { b.err = nil })
		time.Sleep(2 * time.Hour)
		if got := e.requests(); len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// A record that was read before another send ended neither sends again nor is written back.
func TestStaleRecordIsIgnored(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea"), one(2, "coffee")}}
	b.read = func() { b.hook.Cursor = 1 }
	run(t, b, func(int) int { return 200 }, func(e *endpoint) {
		time.Sleep(time.Minute)
		if got := e.requests(); len(got) != 1 || !strings.Contains(got[0].body, "coffee") {
			t.Errorf("%+v", got)
		}
	})
	b.hook.Cursor, b.hook.Next, b.read = 0, time.Time{}, func() { b.hook.Off = errGone.Error() }
	run(t, b, func(int) int { return 200 }, func(e *endpoint) {
		time.Sleep(time.Minute)
		if h := b.state(); len(e.requests()) > 0 || h.Off == "" {
			t.Errorf("%+v", h)
		}
	})
}

// An app that has many current requests is sent its message at the next check.
func TestAppWithManyRequests(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea")}, err: fmt.Errorf("%w: %w", serve.ErrLimit, apps.ErrBusy)}
	run(t, b, func(int) int { return 200 }, func(e *endpoint) {
		time.Sleep(time.Minute)
		if h := b.state(); len(e.requests()) > 0 || !h.Next.IsZero() {
			t.Errorf("%+v", h)
		}
		b.set(func() { b.err = nil })
		time.Sleep(2 * lookEvery)
		if got := e.requests(); len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// If shares can't be read, that is logged once, and days are still sent.
func TestUnreadableSharesDelayNothing(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret, Day: "1999-12-30"}, changes: []memory.Change{one(1, "tea")}, endErr: errors.New("the catalog is damaged")}
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		e := &endpoint{begun: time.Now(), say: func(int) int { return 200 }}
		ctx, cancel := context.WithCancel(t.Context())
		tl := newTeller(Config{Book: b, Log: slog.New(slog.NewTextHandler(&logged, nil))})
		tl.client.Transport = e
		done := make(chan bool)
		go func() { tl.run(ctx); close(done) }()
		time.Sleep(time.Hour)
		cancel()
		<-done
		if got := e.requests(); len(got) != 2 || !strings.Contains(got[1].body, "day.ended") || b.state().Cursor != 1 {
			t.Errorf("%+v, %+v", got, b.state())
		}
		if n := strings.Count(logged.String(), "the catalog is damaged"); n != 1 {
			t.Errorf("logged %d times: %s", n, logged.String())
		}
	})
}

// The end of the wearer's day is sent after everything that changed in it, and again while
// nobody answers. Of several days that passed meanwhile, only the last is sent.
func TestDayEnded(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea")}}
	zone := time.FixedZone("", -5*60*60)
	synctest.Test(t, func(t *testing.T) { // it begins at midnight UTC, 1 January 2000
		e := &endpoint{begun: time.Now(), say: func(n int) int { return []int{200, 500, 200, 200}[min(n-1, 3)] }}
		ctx, cancel := context.WithCancel(t.Context())
		tl := newTeller(Config{Book: b, Zone: zone})
		tl.client.Transport = e
		done := make(chan bool)
		go func() { tl.run(ctx); close(done) }()
		time.Sleep(5*time.Hour - time.Minute)
		if got := e.requests(); len(got) != 1 || b.state().Day != "1999-12-31" {
			t.Errorf("before midnight: %+v, %+v", got, b.state())
		}
		time.Sleep(2 * time.Minute)
		got := e.requests()
		if len(got) != 3 || got[1].id != got[2].id || !strings.Contains(got[2].body, `"type":"day.ended"`) || !strings.Contains(got[2].body, `"day":"1999-12-31"`) || b.state().Day != "2000-01-01" {
			t.Errorf("after midnight: %+v, %+v", got, b.state())
		}
		cancel()
		<-done
		time.Sleep(4 * 24 * time.Hour) // the node is off
		ctx, cancel = context.WithCancel(t.Context())
		done = make(chan bool)
		go func() { tl.run(ctx); close(done) }()
		time.Sleep(time.Minute)
		if got := e.requests(); len(got) != 4 || got[3].id == got[2].id || !strings.Contains(got[3].body, `"day":"2000-01-04"`) {
			t.Errorf("after some days: %+v", got)
		}
		cancel()
		<-done
	})
}

// A conflict is sent after the change that caused it, and both are sent again if one was not
// accepted.
func TestConflict(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret}, changes: []memory.Change{one(1, "tea")},
		conflict: &apps.Conflict{ID: "abc", Kind: "slot", Memories: []memory.Memory{{ID: memory.ID{1}}, {ID: memory.ID{2}}}}}
	run(t, b, func(n int) int { return []int{200, 500, 200}[min(n-1, 2)] }, func(e *endpoint) {
		time.Sleep(time.Hour)
		got := e.requests()
		if len(got) != 4 || got[0].id != got[2].id || got[1].id != got[3].id || got[0].id == got[1].id || !strings.Contains(got[2].body, `"type":"memory.added"`) ||
			!strings.Contains(got[3].body, `"type":"memory.conflict"`) || !strings.Contains(got[3].body, `"kind":"slot","memories":[{`) {
			t.Errorf("%+v", got)
		}
		if h := b.state(); h.Cursor != 1 || h.Tries != 0 || h.Conflict != "abc" {
			t.Errorf("%+v", h)
		}
	})
}

// The end of a share is sent once, at growing intervals while nobody answers. An end from
// before the hook is not sent.
func TestShareEnded(t *testing.T) {
	b := &book{hook: apps.Hook{App: "notes", URL: "https://hook.example/", Secret: vectorSecret},
		ended: &apps.ShareEnd{ID: memory.SpaceID{7}, Title: "the club", Ended: time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC)}}
	run(t, b, func(n int) int { return []int{500, 0, 200}[min(n-1, 2)] }, func(e *endpoint) { // it begins at midnight, 1 January 2000
		time.Sleep(time.Minute)
		if got := e.requests(); len(got) > 0 {
			t.Errorf("%+v", got)
		}
		b.set(func() { later := *b.ended; later.Ended = time.Now().UTC(); b.ended = &later })
		time.Sleep(time.Hour)
		got := e.requests()
		if len(got) != 3 || got[0].id != got[2].id || got[2].after-got[1].after < 5*time.Minute || !strings.Contains(got[2].body, `"type":"share.ended"`) || !strings.Contains(got[2].body, `"title":"the club"`) {
			t.Errorf("%+v", got)
		}
		if h := b.state(); !h.Ended.Equal(b.ended.Ended) || h.EndedID != b.ended.ID || h.Tries != 0 {
			t.Errorf("%+v", h)
		}
	})
}
