package peer

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/locket-dev/locket/sync/remote/page"
)

// Limits of mailboxes. A relay has the same kinds of limits
// (docs/protocol.md); these are lower, because one wearer pairs one device at
// a time.
const (
	maxBoxes    = 64
	maxMessages = 8
	boxLife     = 10 * time.Minute
)

// Boxes are mailboxes in memory. They let a new device be paired without a
// relay: the device that invites it also serves the mailbox. Strangers in the
// network can begin at most maxBoxes mailboxes in all. The mailbox of this
// device's own pairing has its own room, however many others were begun. The
// zero value is ready to use. It is safe for concurrent use.
type Boxes struct {
	now func() time.Time

	mu  sync.Mutex
	all map[[16]byte]*box
}

type box struct {
	own      bool // this device's own pairing reads it
	messages [][]byte
	until    time.Time
	changed  chan struct{}
}

var (
	errFull    = fmt.Errorf("mailbox: %w: %d messages", errTooLarge, maxMessages)
	errBoxes   = errors.New("too many mailboxes")
	errMailbox = fmt.Errorf("mailbox: %w: want 32 hexadecimal characters in lower case", page.ErrForm)
)

func (b *Boxes) time() time.Time {
	if b.now != nil {
		return b.now()
	}
	return time.Now()
}

// at returns a mailbox, and makes it if there is room. The caller holds the
// lock.
func (b *Boxes) at(id [16]byte, own bool) *box {
	now, others := b.time(), 0
	for k, v := range b.all {
		if now.After(v.until) {
			close(v.changed)
			delete(b.all, k)
		} else if !v.own {
			others++
		}
	}
	have := b.all[id]
	if have == nil && (own || others < maxBoxes) {
		if b.all == nil {
			b.all = map[[16]byte]*box{}
		}
		have = &box{until: now.Add(boxLife), changed: make(chan struct{})}
		b.all[id] = have
	}
	if have != nil && own {
		have.own = true
	}
	return have
}

// Post implements pairing.Mailbox for this device's own side.
func (b *Boxes) Post(_ context.Context, id [16]byte, message []byte) error {
	_, err := b.put(id, message, true)
	return err
}

func (b *Boxes) put(id [16]byte, message []byte, own bool) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(message) == 0 {
		return 0, fmt.Errorf("message: %w: there is none", page.ErrForm)
	}
	if len(message) > page.MaxMessage {
		return 0, fmt.Errorf("message: %w: over %d bytes", errTooLarge, page.MaxMessage)
	}
	x := b.at(id, own)
	if x == nil {
		return 0, errBoxes
	}
	if len(x.messages) == maxMessages {
		return 0, errFull
	}
	x.messages = append(x.messages, append([]byte(nil), message...))
	close(x.changed)
	x.changed = make(chan struct{})
	return len(x.messages), nil
}

// Message implements pairing.Mailbox for this device's own side. It waits for
// message n+1.
func (b *Boxes) Message(ctx context.Context, id [16]byte, n int) ([]byte, error) {
	return b.message(ctx, id, n, true)
}

func (b *Boxes) message(ctx context.Context, id [16]byte, n int, own bool) ([]byte, error) {
	for {
		b.mu.Lock()
		x := b.at(id, own)
		b.mu.Unlock()
		if x == nil {
			return nil, errBoxes
		}
		m, changed := b.look(x, n)
		if m != nil {
			return m, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

func (b *Boxes) look(x *box, n int) ([]byte, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n >= 0 && n < len(x.messages) {
		return x.messages[n], nil
	}
	return nil, x.changed
}

func boxID(r *http.Request) (id [16]byte, err error) {
	name := r.PathValue("id")
	if len(name) != 2*len(id) {
		return id, errMailbox
	}
	if _, err := hex.Decode(id[:], []byte(name)); err != nil || hex.EncodeToString(id[:]) != name {
		return id, errMailbox
	}
	return id, nil
}

func (b *Boxes) post(w http.ResponseWriter, r *http.Request) {
	id, err := boxID(r)
	if err != nil {
		fail(w, err)
		return
	}
	message, err := io.ReadAll(io.LimitReader(r.Body, page.MaxMessage+1))
	if err != nil {
		return
	}
	n, err := b.put(id, message, false)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set(page.FieldNumber, strconv.Itoa(n))
	w.WriteHeader(http.StatusCreated)
}

func (b *Boxes) get(w http.ResponseWriter, r *http.Request) {
	id, err := boxID(r)
	n, err2 := strconv.Atoi("0" + r.URL.Query().Get("after"))
	seconds, err3 := strconv.Atoi("0" + r.URL.Query().Get("wait"))
	switch {
	case err != nil:
	case err2 != nil || err3 != nil || seconds > page.MaxWait:
		err = fmt.Errorf("mailbox: %w: after %q, wait %q", page.ErrForm, r.URL.Query().Get("after"), r.URL.Query().Get("wait"))
	case n >= maxMessages:
		err = fmt.Errorf("mailbox after %d: %w", n, errNothing)
	}
	if err != nil {
		fail(w, err)
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	defer stop()
	m, err := b.message(ctx, id, n, false)
	if err != nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set(page.FieldNumber, strconv.Itoa(n+1))
	w.Header().Set("Content-Type", page.Bytes)
	w.Write(m)
}
