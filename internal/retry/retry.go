// Package retry computes how long to wait before the next try after failures,
// and waits.
package retry

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/wait"
)

// Backoff is the delay of one loop that tries again: First, then twice as long
// after each further failure, up to Most. Each wait is shortened by up to half
// at random, so that clients that failed at the same time do not come back at
// the same time. First and Most must be greater than 0. A Backoff is not safe
// for concurrent use.
type Backoff struct {
	First, Most time.Duration
	next        time.Duration // before the random part; 0: First
}

// Next returns the next wait, which is more than half of its greatest value.
func (b *Backoff) Next() time.Duration {
	if b.next == 0 {
		b.next = min(b.First, b.Most)
	}
	d := b.next - rand.N(max(b.next/2, 1))
	b.next = min(2*b.next, b.Most)
	return d
}

// Wait waits, and reports whether ctx is still alive.
func (b *Backoff) Wait(ctx context.Context) bool { return wait.For(ctx, b.Next()) }

// Reset is called after a success: the next wait is the first again.
func (b *Backoff) Reset() { b.next = 0 }

// After returns the wait after a number of failures, 1 or more, for callers
// that only store this number.
func After(failures int, first, most time.Duration) time.Duration {
	d := first
	for ; failures > 1 && d < most; failures-- {
		d *= 2
	}
	return (&Backoff{First: d, Most: most}).Next()
}

// Asked reads a Retry-After header, seconds or a date (RFC 9110, 10.2.3), as a wait from now, at
// most most. It returns 0 if there is none.
func Asked(header string, now time.Time, most time.Duration) time.Duration {
	header = strings.TrimSpace(header)
	if n, err := strconv.ParseInt(header, 10, 32); err == nil && n >= 0 {
		return min(time.Duration(n)*time.Second, most)
	}
	if t, err := http.ParseTime(header); err == nil {
		return max(0, min(t.Sub(now), most))
	}
	return 0
}

// Away reports whether an answer that should be JSON is a page of HTML instead. A proxy sends one,
// even with status 200, while the server behind it is away.
func Away(h http.Header, body []byte) bool {
	return strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "text/html") || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// Paced is called after a request was refused because requests came too fast. It waits as long as
// the server asked, and reports whether the request is to be sent again: at most 10 times, tries
// counts from 0, and not if the wait is longer than two seconds. A relay that allows a stranger 60
// requests a minute asks for one second.
func Paced(ctx context.Context, tries int, asked time.Duration) bool {
	return tries < paceTries && asked > 0 && asked <= paceWait && wait.For(ctx, asked)
}

const (
	paceTries = 10
	paceWait  = 2 * time.Second
)
