// Package hooks tells apps of new memories, at the addresses that the wearer named, as
// Standard Webhooks (standardwebhooks.com) has it: a POST of JSON, signed by the secret
// of the app's hook.
//
//   - An app is told what it may read, one change after the other, each at least once.
//     What it is told is in its account before it goes out.
//   - What is not answered with a success is told again, ever more seldom for three days,
//     also over restarts, and as the memory is by then: what was forgotten meanwhile is
//     told to nobody. After that, or when the answer is 410, the hook is off.
//   - Nothing is sent anywhere else: a redirect is a failure.
package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/serve"
)

// Book has the hooks and what is to be told; see [apps.Book].
type Book interface {
	Hooks(ctx context.Context) ([]apps.Hook, error)
	NextFor(ctx context.Context, h apps.Hook) (*memory.Change, memory.Memory, uint64, error)
	SaveHook(ctx context.Context, h apps.Hook) error
}

// Config says what hooks there are.
type Config struct {
	Book Book
	Zone *time.Location   // where the wearer's days end; nil: UTC
	Now  func() time.Time // nil: time.Now
	Log  *slog.Logger     // nil: nothing is logged
}

const (
	lookEvery  = 2 * time.Second // for changes and new hooks
	answerTime = 15 * time.Second
	limitWait  = time.Hour // where the app's tokens of the day are used up
)

// waits is how long to wait after each try in vain, as Standard Webhooks proposes.
var waits = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// Run tells apps until ctx ends, and returns once nothing is under way. While the node
// is locked it waits.
func Run(ctx context.Context, c Config) {
	t := newTeller(c)
	defer t.client.CloseIdleConnections()
	t.run(ctx)
}

func (t *teller) run(ctx context.Context) {
	busy := map[string]bool{}
	var mu sync.Mutex
	var working sync.WaitGroup
	defer working.Wait()
	for ; ; wait.For(ctx, lookEvery) {
		if ctx.Err() != nil {
			return
		}
		list, err := t.Book.Hooks(ctx)
		if err != nil {
			if !errors.Is(err, memory.ErrLocked) && ctx.Err() == nil {
				t.Log.Warn("hooks not read", "error", err)
			}
			continue
		}
		for _, h := range list {
			mu.Lock()
			due := !busy[h.App] && h.Off == "" && !t.Now().Before(h.Next)
			busy[h.App] = busy[h.App] || due
			mu.Unlock()
			if !due {
				continue
			}
			working.Go(func() {
				t.tell(ctx, h)
				mu.Lock()
				defer mu.Unlock()
				busy[h.App] = false
			})
		}
	}
}

// teller tells.
type teller struct {
	Config
	client *http.Client
}

func newTeller(c Config) *teller {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Zone == nil {
		c.Zone = time.UTC
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // who else would be told
	return &teller{c, &http.Client{Transport: transport, Timeout: answerTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// tell tells one hook what there is, until that fails or there is no more.
func (t *teller) tell(ctx context.Context, h apps.Hook) {
	for ctx.Err() == nil {
		was := h
		c, m, cursor, err := t.Book.NextFor(ctx, h)
		switch {
		case errors.Is(err, serve.ErrLimit):
			h.Next = t.Now().Add(limitWait)
		case err != nil:
			return // locked, revoked, or at the end: the next look tells
		case c == nil:
			if h.Cursor != cursor || h.Day >= t.today() { // what was tried in vain was forgotten, and is no day
				h.Cursor, h.Tries, h.Next = cursor, 0, time.Time{}
			}
			h = t.tellDay(ctx, h)
			if ctx.Err() != nil {
				return
			}
		default:
			err := t.postChange(ctx, h, c, &m)
			if ctx.Err() != nil {
				return
			}
			h = t.after(h, cursor, err)
		}
		if h != was {
			if err := t.Book.SaveHook(ctx, h); err != nil {
				return // it is told again
			}
		}
		if h == was || c == nil || h.Off != "" || t.Now().Before(h.Next) {
			return
		}
	}
}

// today is the wearer's day.
func (t *teller) today() string { return t.Now().In(t.Zone).Format(time.DateOnly) }

// tellDay tells that a day of the wearer's has ended, once all of its changes were told.
// Of days that ended while nobody could be told, the last one is.
func (t *teller) tellDay(ctx context.Context, h apps.Hook) apps.Hook {
	now, today := t.Now().In(t.Zone), t.today()
	if h.Day == "" {
		h.Day = today
	}
	if h.Day >= today {
		return h
	}
	if h.Tries == 0 {
		h.Day = time.Date(now.Year(), now.Month(), now.Day()-1, 12, 0, 0, 0, t.Zone).Format(time.DateOnly)
	}
	err := t.post(ctx, h, "day "+h.Day, message{"day.ended", t.Now().UTC(), dayData{h.App, h.Day}})
	if h = t.after(h, h.Cursor, err); err == nil {
		h.Day = today
	}
	return h
}

// errGone: the address wants nothing any more.
var errGone = errors.New("it answers 410, gone")

// after is a hook after a try.
func (t *teller) after(h apps.Hook, cursor uint64, err error) apps.Hook {
	if err == nil {
		h.Cursor, h.Tries, h.Next = cursor, 0, time.Time{}
		return h
	}
	h.Tries++
	switch {
	case errors.Is(err, errGone):
		h.Off = err.Error()
	case h.Tries > len(waits):
		h.Off = fmt.Sprintf("tried %d times in vain: %v", h.Tries, err)
	default:
		h.Next = t.Now().Add(waits[h.Tries-1])
		return h
	}
	t.Log.Warn("an app is not told any more", "app", h.App, "why", h.Off)
	return h
}

// message is what an app is told.
type message struct {
	Type      string    `json:"type"` // memory.added, memory.updated or day.ended
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"` // data or dayData
}

type data struct {
	App    string          `json:"app"`
	Seq    uint64          `json:"seq"`
	Memory json.RawMessage `json:"memory"`
}

type dayData struct {
	App string `json:"app"`
	Day string `json:"day"` // 2026-09-14, in the wearer's zone
}

// postChange tells of one change.
func (t *teller) postChange(ctx context.Context, h apps.Hook, c *memory.Change, m *memory.Memory) error {
	kind := map[memory.Verdict]string{memory.Add: "memory.added", memory.Update: "memory.updated"}[c.Verdict]
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return t.post(ctx, h, strconv.FormatUint(c.Seq, 10), message{kind, c.At.UTC(), data{h.App, c.Seq, text}})
}

// post sends a message. of is what it is about, by which it has the same id when it comes
// again.
func (t *teller) post(ctx context.Context, h apps.Hook, of string, m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	at := strconv.FormatInt(t.Now().Unix(), 10)
	id := messageID(h, of)
	signature, err := sign(h.Secret, id, at, body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "locket")
	r.Header["webhook-id"], r.Header["webhook-timestamp"], r.Header["webhook-signature"] = []string{id}, []string{at}, []string{signature}
	res, err := t.client.Do(r)
	if err != nil {
		return errors.New("it does not answer") // the error has the address
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be used again
	switch {
	case res.StatusCode/100 == 2:
		return nil
	case res.StatusCode == http.StatusGone:
		return errGone
	}
	return fmt.Errorf("it answers %d", res.StatusCode)
}

// messageID is the same whenever something is told again.
func messageID(h apps.Hook, of string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", string(h.Secret), h.App, of))
	return "msg_" + base64.RawURLEncoding.EncodeToString(sum[:18])
}

// sign signs as Standard Webhooks' v1: HMAC-SHA256 of "ID.TIMESTAMP.BODY".
func sign(secret serve.Secret, id, at string, body []byte) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), apps.SecretPrefix))
	if err != nil {
		return "", errors.New("the hook's secret is no base64")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
