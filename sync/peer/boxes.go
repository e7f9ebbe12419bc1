package peer

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/locket-dev/locket/sync/remote/page"
)

// Of mailboxes, as at a relay (docs/protocol.md); fewer, as one wearer pairs
// one device at a time.
const (
	maxBoxes    = 64
	maxMessages = 8
	boxLife     = 10 * time.Minute
)

// Boxes are mailboxes in memory, by which a new device is let in where there
// is no relay: what a relay has for it, on the device that lets in. The zero
// value works. Safe for concurrent use.
type Boxes struct {
	now func() time.Time

	mu  sync.Mutex
	all map[[16]byte]*box
}

type box struct {
	messages [][]byte
	until    time.Time
	changed  chan struct{}
}

var (
	errFull    = errors.New("mailbox is full")
	errMailbox = errors.New("mailbox: want 32 hexadecimal characters")
)

func (b *Boxes) time() time.Time {
	if b.now != nil {
		return b.now()
	}
	return time.Now()
}

// at gives a box, and makes it where fresh says so. The lock is held.
func (b *Boxes) at(id [16]byte, fresh bool) *box {
	now := b.time()
	for k, v := range b.all {
		if now.After(v.until) {
			close(v.changed)
			delete(b.all, k)
		}
	}
	have := b.all[id]
	if have == nil && fresh && len(b.all) < maxBoxes {
		if b.all == nil {
			b.all = map[[16]byte]*box{}
		}
		have = &box{until: now.Add(boxLife), changed: make(chan struct{})}
		b.all[id] = have
	}
	return have
}

// Post implements pairing.Mailbox, for this device's own side.
func (b *Boxes) Post(_ context.Context, id [16]byte, message []byte) error {
	_, err := b.put(id, message)
	return err
}

func (b *Boxes) put(id [16]byte, message []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.at(id, true)
	if x == nil || len(x.messages) == maxMessages || len(message) == 0 || len(message) > page.MaxMessage {
		return 0, errFull
	}
	x.messages = append(x.messages, append([]byte(nil), message...))
	close(x.changed)
	x.changed = make(chan struct{})
	return len(x.messages), nil
}

// Message implements pairing.Mailbox: it waits for message n+1.
func (b *Boxes) Message(ctx context.Context, id [16]byte, n int) ([]byte, error) {
	for {
		b.mu.Lock()
		x := b.at(id, true)
		b.mu.Unlock()
		if x == nil {
			return nil, errFull
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
	if _, err := hex.Decode(id[:], []byte(name)); err != nil {
		return id, errMailbox
	}
	return id, nil
}

func (b *Boxes) post(w http.ResponseWriter, r *http.Request) {
	id, err := boxID(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	message, err := io.ReadAll(io.LimitReader(r.Body, page.MaxMessage+1))
	if err != nil {
		return
	}
	n, err := b.put(id, message)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	w.Header().Set(page.FieldNumber, strconv.Itoa(n))
	w.WriteHeader(http.StatusCreated)
}

func (b *Boxes) get(w http.ResponseWriter, r *http.Request) {
	id, err := boxID(r)
	n, err2 := strconv.Atoi("0" + r.URL.Query().Get("after"))
	seconds, err3 := strconv.Atoi("0" + r.URL.Query().Get("wait"))
	if errors.Join(err, err2, err3) != nil || n >= maxMessages || seconds > page.MaxWait {
		http.Error(w, errMailbox.Error(), http.StatusBadRequest)
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
	defer stop()
	m, err := b.Message(ctx, id, n)
	if err != nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set(page.FieldNumber, strconv.Itoa(n+1))
	w.Header().Set("Content-Type", page.Bytes)
	w.Write(m)
}
