package remote

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/sync/trade"
)

// A caller that sends requests to a market faster than it allows for one address waits the second
// that the market names; a refusal for longer, or for another reason, is returned at once.
func TestMarketRateLimitIsObeyed(t *testing.T) {
	for _, x := range []struct {
		name        string
		after       string
		status      int
		refusals    int
		requests    int
		err         error
		atLeast, at time.Duration
	}{
		{"twice too fast", "1", http.StatusTooManyRequests, 2, 3, nil, 2 * time.Second, 3 * time.Second},
		{"always too fast", "1", http.StatusTooManyRequests, 99, 11, ErrQuota, 10 * time.Second, time.Minute},
		{"a day's quota", "3600", http.StatusTooManyRequests, 99, 1, ErrQuota, 0, time.Second},
		{"busy", "1", http.StatusServiceUnavailable, 99, 1, ErrBusy, 0, time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			requests, began := 0, time.Now()
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if requests++; requests <= x.refusals {
					w.Header().Set("Retry-After", x.after)
					w.WriteHeader(x.status)
					return
				}
				w.Write(trade.Encode(trade.Terms{}))
			})
			r, err := New("https://relay.test", Option{HTTP: &http.Client{Transport: handled{h}}})
			if err != nil {
				t.Fatal(err)
			}
			err = r.Market(trade.Key{}, nil).ask(t.Context(), "GET", "", nil, nil, &trade.Terms{})
			if !errors.Is(err, x.err) || (err == nil) != (x.err == nil) || requests != x.requests {
				t.Errorf("%s: %d requests, %v", x.name, requests, err)
			}
			if took := time.Since(began); took < x.atLeast || took >= x.at {
				t.Errorf("%s: it took %v", x.name, took)
			}
		})
	}
}

// handled answers requests with a handler, without a network.
type handled struct{ http.Handler }

func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	res := w.Result()
	res.Request = r
	return res, nil
}
