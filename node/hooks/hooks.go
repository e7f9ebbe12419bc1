// Package hooks sends new memories to apps, at the addresses that the wearer named, as Standard
// Webhooks (standardwebhooks.com) specifies: a POST of JSON, signed with the secret of the
// app's hook.
//
//   - An app is sent what it may read, one change after the other, each at least once.
//     What it is sent is in its log before it is sent.
//   - A message that is not answered with a success is sent again, at growing intervals, for three days,
//     also after restarts, with the memory as it is then: what was forgotten meanwhile is
//     not sent. After that, or when the answer is 410, the hook is turned off.
//   - Nothing is sent anywhere else: a redirect is a failure.
package hooks

import (
	"bytes"
	"cmp"
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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/serve"
)

// Book stores the hooks and what has to be sent; see [apps.Book].
type Book interface {
	Hooks(ctx context.Context) ([]apps.Hook, error)
	NextChange(ctx context.Context, h apps.Hook) (*apps.Notification, uint64, error)
	NextShareEnd(ctx context.Context, h apps.Hook) (*apps.ShareEnd, error)
	SaveHook(ctx context.Context, h apps.Hook) error
}

// Config is what hooks need.
type Config struct {
	Book Book
	Zone *time.Location   // the zone in which the wearer's days end; nil: UTC
	Now  func() time.Time // nil: time.Now
	Log  *slog.Logger     // nil: nothing is logged
}

const (
	lookEvery  = 2 * time.Second // interval of checks for changes and new hooks
	answerTime = 15 * time.Second
	limitWait  = time.Hour // wait after the app has used up its tokens of the day
)

// waits is how long to wait after each failed attempt, as Standard Webhooks proposes.
var waits = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// Run sends messages to apps until ctx ends, and returns once nothing is under way. While the
// node is locked it waits.
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
				t.Log.Warn("the web hooks of apps could not be read", "error", err)
			}
			continue
		}
		for _, h := range list {
			mu.Lock()
			due := !busy[h.App] && t.due(h)
			busy[h.App] = busy[h.App] || due
			mu.Unlock()
			if !due {
				continue
			}
			working.Go(func() {
				// A message may have been sent, and its record stored, since the list was read.
				if h, ok := t.fresh(ctx, h.App); ok {
					t.deliver(ctx, h)
				}
				mu.Lock()
				defer mu.Unlock()
				busy[h.App] = false
			})
		}
	}
}

func (t *teller) due(h apps.Hook) bool { return h.Off == "" && !t.Now().Before(h.Next) }

// fresh returns the hook of an app as it is now, if something may be sent to it.
func (t *teller) fresh(ctx context.Context, app string) (h apps.Hook, ok bool) {
	list, err := t.Book.Hooks(ctx)
	i := slices.IndexFunc(list, func(h apps.Hook) bool { return h.App == app })
	if err != nil || i < 0 { // the next check reports why
		return h, false
	}
	return list[i], t.due(list[i])
}

// teller sends the messages.
type teller struct {
	Config
	client  *http.Client
	failing sync.Map // apps for which it was logged that the ends of shares can't be read
}

func newTeller(c Config) *teller {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Zone = cmp.Or(c.Zone, time.UTC)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil // a proxy would also learn what is sent
	return &teller{Config: c, client: &http.Client{Transport: transport, Timeout: answerTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// deliver sends everything that there is for one hook, until an attempt fails.
func (t *teller) deliver(ctx context.Context, h apps.Hook) {
	for ctx.Err() == nil {
		before := h
		notification, cursor, err := t.Book.NextChange(ctx, h)
		var ended *apps.ShareEnd
		if err == nil && notification == nil {
			if h.Ended.IsZero() { // the hook is older than messages about the end of shares
				h.Ended = t.Now().UTC()
			}
			ended, err = t.ended(ctx, h)
		}
		switch {
		case errors.Is(err, apps.ErrBusy):
			return // it waits for requests of its own; the next check continues
		case errors.Is(err, serve.ErrLimit):
			h.Next = t.Now().Add(limitWait)
		case err != nil:
			return // locked, revoked, or at the end; the next check continues
		case notification != nil:
			err := t.postChange(ctx, h, notification)
			if ctx.Err() != nil {
				return
			}
			if h = t.after(h, cursor, err); err == nil && notification.Conflict != nil {
				h.Conflict = notification.Conflict.ID
			}
		case ended != nil:
			err := t.post(ctx, h, "share "+ended.ID.String(), message{"share.ended", ended.Ended.UTC(), shareData{h.App, ended}})
			if ctx.Err() != nil {
				return
			}
			if h = t.after(h, cursor, err); err == nil {
				h.Ended, h.EndedID = ended.Ended, ended.ID
			}
		default:
			if h.Cursor != cursor || h.Day >= t.today() { // what was tried in vain was forgotten, and it is not the end of a day
				h.Cursor, h.Tries, h.Next = cursor, 0, time.Time{}
			}
			h = t.tellDay(ctx, h)
			if ctx.Err() != nil {
				return
			}
		}
		if h != before {
			if err := t.Book.SaveHook(ctx, h); err != nil {
				return // it is sent again
			}
		}
		if h == before || notification == nil && ended == nil || h.Off != "" || t.Now().Before(h.Next) {
			return
		}
	}
}

// ended returns the next end of a share. If shares can't be read, that is logged once, and
// everything else is sent.
func (t *teller) ended(ctx context.Context, h apps.Hook) (*apps.ShareEnd, error) {
	e, err := t.Book.NextShareEnd(ctx, h)
	switch {
	case err == nil:
		t.failing.Delete(h.App)
	case ctx.Err() == nil && !errors.Is(err, serve.ErrKey) && !errors.Is(err, serve.ErrLimit) && !errors.Is(err, memory.ErrLocked):
		if _, logged := t.failing.LoadOrStore(h.App, true); !logged {
			t.Log.Warn("an app could not be told that its shares ended", "app", h.App, "error", err)
		}
		return nil, nil
	}
	return e, err
}

// today returns the wearer's day.
func (t *teller) today() string { return t.Now().In(t.Zone).Format(time.DateOnly) }

// tellDay sends that a day of the wearer has ended, after all of its changes were sent. If
// several days ended while nothing could be sent, only the last one is reported.
func (t *teller) tellDay(ctx context.Context, h apps.Hook) apps.Hook {
	now, today := t.Now().In(t.Zone), t.today()
	h.Day = cmp.Or(h.Day, today)
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

// errGone: the address does not want any more messages.
var errGone = errors.New("it answers 410, gone")

// after returns a hook's record after an attempt.
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
		h.Off = fmt.Sprintf("failed %d times: %v", h.Tries, err)
	default:
		h.Next = t.Now().Add(waits[h.Tries-1])
		return h
	}
	t.Log.Warn("an app is no longer told", "app", h.App, "why", h.Off)
	return h
}

// message is what an app is sent.
type message struct {
	Type      string    `json:"type"` // memory.added, memory.updated, memory.conflict, share.ended or day.ended
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"` // data, conflictData, shareData or dayData
}

type data struct {
	App    string          `json:"app"`
	Seq    uint64          `json:"seq"`
	Memory json.RawMessage `json:"memory"`
}

type conflictData struct {
	App      string         `json:"app"`
	Conflict *apps.Conflict `json:"conflict"`
}

type shareData struct {
	App   string         `json:"app"`
	Share *apps.ShareEnd `json:"share"`
}

type dayData struct {
	App string `json:"app"`
	Day string `json:"day"` // 2026-09-14, in the wearer's zone
}

// postChange sends one change, and then the conflict that the change is a side of.
func (t *teller) postChange(ctx context.Context, h apps.Hook, told *apps.Notification) error {
	if c := told.Change; c != nil {
		kind := map[memory.Verdict]string{memory.Add: "memory.added", memory.Update: "memory.updated"}[c.Verdict]
		text, err := json.Marshal(&told.Memory)
		if err != nil {
			return err
		}
		if err := t.post(ctx, h, strconv.FormatUint(c.Seq, 10), message{kind, c.At.UTC(), data{h.App, c.Seq, text}}); err != nil {
			return err
		}
	}
	if told.Conflict == nil {
		return nil
	}
	return t.post(ctx, h, "conflict "+told.Conflict.ID, message{"memory.conflict", t.Now().UTC(), conflictData{h.App, told.Conflict}})
}

// post sends a message. of says what it is about, so that it has the same id when it is sent
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
		return errors.New("it does not answer") // the original error contains the address
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

// messageID returns an id that is the same whenever the same message is sent again.
func messageID(h apps.Hook, of string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", string(h.Secret), h.App, of))
	return "msg_" + base64.RawURLEncoding.EncodeToString(sum[:18])
}

// sign signs as v1 of Standard Webhooks does: HMAC-SHA256 of "ID.TIMESTAMP.BODY".
func sign(secret serve.Secret, id, at string, body []byte) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), apps.SecretPrefix))
	if err != nil {
		return "", errors.New("the hook's secret is not base64")
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
