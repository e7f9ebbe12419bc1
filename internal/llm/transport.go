package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/locket-dev/locket/internal/dialfault"
	"github.com/locket-dev/locket/internal/retry"
)

// maxBody is how many bytes of an answer are read: thousands of tokens.
const maxBody = 1 << 20

// noRedirect: a redirect would send the question to a host that was not
// configured.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// bounded reads a whole answer, up to a number of bytes, so that a truncated
// answer can be distinguished from one that is not JSON.
type bounded struct {
	next http.RoundTripper
	most int64 // bytes of an answer
}

func (q *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "locket")
	res, err := q.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, q.most+1))
	switch {
	case err != nil && r.Context().Err() != nil:
		return nil, r.Context().Err()
	case err != nil:
		return nil, faultf(Gone, res.StatusCode, "the answer broke off")
	case int64(len(b)) > q.most:
		return nil, faultf(Babbled, res.StatusCode, "an answer of more than %d bytes", q.most)
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return nil, faultf(Setup, res.StatusCode, "%s", dialfault.Elsewhere(res))
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	return res, nil
}

// Waits between tries.
const (
	firstWait = 500 * time.Millisecond
	maxWait   = 30 * time.Second // the caller has to obey a longer Retry-After
)

// wait returns how long to wait before a try: as long as the server said, or
// twice as long each time. The wait is shortened by up to half at random, so
// that many clients do not come back at once.
func wait(try int, err error) time.Duration {
	var f *Fault
	if errors.As(err, &f) && f.After > 0 {
		return f.After
	}
	return retry.After(try, firstWait, maxWait)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
