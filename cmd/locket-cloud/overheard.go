package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// overheard passes requests on to an ACME authority. It logs, in the authority's words, what it
// refuses and which proofs failed: a renewal fails in the background, and the manager does not say
// why a name could not be proved.
//
// It also adds the location of an order to the answer that finalizes it. RFC 8555 (7.4) lets an
// authority issue later without repeating the location, but x/crypto's client looks for it in that
// answer (golang.org/issue/77704). Safe for concurrent use.
type overheard struct {
	log *slog.Logger

	mu     sync.Mutex
	orders map[string]string // the location of each order, by the URL that finalizes it
}

// maxOrders is how many orders are remembered.
const maxOrders = 1000

// maxAnswer is how much of an answer is read; the objects of RFC 8555 are smaller.
const maxAnswer = 64 << 10

// trouble is a problem document (RFC 7807) of an authority: by itself, in an order, or in a
// challenge of an authorization.
type trouble struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
}

type acmeAnswer struct {
	trouble
	Finalize   string `json:"finalize"`
	Challenges []struct {
		Kind  string   `json:"type"`
		Error *trouble `json:"error"`
	} `json:"challenges"`
}

// RoundTrip implements [http.RoundTripper].
func (o *overheard) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if !strings.HasSuffix(kind, "json") && res.StatusCode < 400 {
		return res, nil
	}
	said, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, errors.Join(err, res.Body.Close())
	}
	res.Body = &replayed{io.MultiReader(bytes.NewReader(said), res.Body), res.Body}
	var a acmeAnswer
	_ = json.Unmarshal(said, &a)                                                  // the client reports what is wrong with it
	if res.StatusCode >= 400 && a.Type != "urn:ietf:params:acme:error:badNonce" { // this is tried again
		o.log.Warn("the certificate authority refuses", "at", r.URL.Redacted(), "status", res.StatusCode, "type", a.Type, "detail", a.Detail)
	}
	o.place(r, res, a.Finalize)
	for _, c := range a.Challenges {
		if c.Error != nil {
			o.log.Warn("the certificate authority could not prove the name", "by", c.Kind, "type", c.Error.Type, "detail", c.Error.Detail)
		}
	}
	return res, nil
}

// place remembers the location of an order, or adds it to an answer.
func (o *overheard) place(r *http.Request, res *http.Response, finalize string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at := res.Header.Get("Location"); at != "" && finalize != "" {
		if o.orders == nil || len(o.orders) >= maxOrders {
			o.orders = map[string]string{}
		}
		o.orders[finalize] = at
	} else if order := o.orders[r.URL.String()]; order != "" && at == "" {
		res.Header.Set("Location", order)
	}
}

// replayed is a body that was partly read, and that is read again from its beginning.
type replayed struct {
	io.Reader
	io.Closer
}
