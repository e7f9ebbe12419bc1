package remote

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/locket-dev/locket/sync/remote/page"
)

// MailboxID names a mailbox: 128 bits that both sides of a pairing know, and
// that nobody else can guess.
type MailboxID [16]byte

func (m MailboxID) path() string { return "/v1/mailboxes/" + hex.EncodeToString(m[:]) }

// Post leaves a message in a mailbox for about ten minutes, and returns its
// number, counted from 1. The message has at most 8 KiB and is sealed by the
// caller.
func (r *Relay) Post(ctx context.Context, id MailboxID, message []byte) (int, error) {
	a, err := caller{relay: r}.do(ctx, call{method: "POST", path: id.path(), body: message})
	if err != nil {
		return 0, err
	}
	n, err := a.number(page.FieldNumber)
	return int(n), err
}

// Message returns the message after number n, or nil if none comes within
// wait. The messages of both sides are in one sequence, so a side also gets
// its own messages.
func (r *Relay) Message(ctx context.Context, id MailboxID, n int, wait time.Duration) ([]byte, error) {
	wait = min(wait.Truncate(time.Second), page.MaxWait*time.Second)
	q := url.Values{"after": {strconv.Itoa(n)}, "wait": {strconv.Itoa(int(wait / time.Second))}}
	a, err := caller{relay: r}.do(ctx, call{method: "GET", path: id.path(), query: q, limit: page.MaxMessage, wait: wait})
	if err != nil {
		return nil, err
	}
	if len(a.body) == 0 {
		return nil, nil
	}
	if got, err := a.number(page.FieldNumber); err != nil || got != int64(n)+1 {
		return nil, fmt.Errorf("mailbox: %w: message %d after %d", ErrAnswer, got, n)
	}
	return a.body, nil
}
