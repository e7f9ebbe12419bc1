package api

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay"
	"github.com/locket-dev/locket/cloud/market/pay/x402"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/trade"
)

// These errors come only from this package.
var (
	errNoRoute  = errors.New("no such route")
	errNoMethod = errors.New("no such method here")
	errLength   = errors.New("a length must be given")
	errLengths  = errors.New("the length is given twice")
	errRange    = errors.New("range can't be served")
	errMedia    = errors.New("body is not application/cbor or application/octet-stream")
	errEncoding = errors.New("body is compressed")
	errBodyRead = errors.New("body ended early, or came too slowly")
)

// kinds says how each error is answered. The first match counts.
var kinds = []struct {
	err    error
	kind   page.Kind
	status int
}{
	{errNoRoute, page.NotFound, 404},
	{errNoMethod, page.NotAllowed, 405},
	{errLength, page.NoLength, 411},
	{errLengths, page.Malformed, 400},
	{errRange, page.BadRange, 416},
	{errMedia, page.MediaType, 415},
	{errEncoding, page.Encoding, 415},
	{errBodyRead, page.Malformed, 400},
	{httpsig.ErrMissing, page.Unsigned, 401},
	{httpsig.ErrStale, page.Stale, 401},
	{httpsig.ErrReplayed, page.Replayed, 401},
	{httpsig.ErrForged, page.Forged, 401},
	{httpsig.ErrDigest, page.BadBody, 400},
	{httpsig.ErrMalformed, page.Malformed, 400},
	{httpsig.ErrFull, page.Busy, 503},
	{relay.ErrNotFound, page.NotFound, 404},
	{relay.ErrForbidden, page.Forbidden, 403},
	{relay.ErrInvite, page.Invite, 403},
	{relay.ErrConflict, page.Conflict, 409},
	{relay.ErrAhead, page.Ahead, 409},
	{relay.ErrOffset, page.Offset, 409},
	{relay.ErrBlob, page.BlobHash, 409},
	{relay.ErrTooLarge, page.TooLarge, 413},
	{relay.ErrQuota, page.Quota, 429},
	{relay.ErrBusy, page.Busy, 503},
	{relay.ErrUnavailable, page.Unavailable, 503},
	{relay.ErrFull, page.Full, 507},
	{envelope.ErrSignature, page.Signature, 403},
	{envelope.ErrRule, page.Rule, 403},
	{envelope.ErrGap, page.Gap, 409},
	{envelope.ErrChains, page.Chains, 409},
	{envelope.ErrUnknownHead, page.UnknownHead, 409},
	{envelope.ErrBody, page.BadBody, 400},
	{envelope.ErrForm, page.Malformed, 400},
	{page.ErrForm, page.Malformed, 400},
	{memory.ErrInvalid, page.Malformed, 400},
	{trade.ErrSignature, page.Signature, 403},
	{trade.ErrParty, page.Rule, 403},
	{trade.ErrPhase, page.Trade, 409},
	{trade.ErrLate, page.Trade, 409},
	{trade.ErrChain, page.Trade, 409},
	{trade.ErrPrice, page.Trade, 409},
	{trade.ErrRoot, page.Trade, 409},
	{trade.ErrForm, page.Malformed, 400},
	{market.ErrNotFound, page.NotFound, 404},
	{market.ErrEnded, page.Trade, 409},
	{market.ErrVersion, page.Trade, 409},
	{market.ErrEarly, page.Trade, 409},
	{market.ErrFunds, page.Trade, 409},
	{market.ErrFull, page.Trade, 409},
	{market.ErrReviewed, page.Trade, 409},
	{pay.ErrProof, page.Trade, 409},
	{pay.ErrUsed, page.Trade, 409},
	{pay.ErrTries, page.Trade, 409},
	{x402.ErrLive, page.Trade, 409},
	{ledger.ErrAmount, page.Malformed, 400},
	{ledger.ErrKey, page.Trade, 409},
}

// fail answers with a problem document. Internal errors are logged and not
// described to the client.
func (s *Server) fail(c *app.RequestContext, err error) {
	kind, status := page.Internal, 500
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			kind, status = k.kind, k.status
			break
		}
	}
	var fork *envelope.ForkError
	if errors.As(err, &fork) {
		kind, status = page.Fork, 409
	}
	p := page.NewProblem(kind, status, string(kind))
	id := c.Response.Header.Get(page.FieldRequest)
	p.Instance = "urn:locket:request:" + id
	var quota *relay.QuotaError
	switch {
	case errors.As(err, &quota):
		p.What, p.Limit = quota.What, quota.Limit
		retryAfter(c, quota.Wait)
	case kind == page.Busy:
		retryAfter(c, time.Second)
	case kind == page.Unavailable:
		retryAfter(c, 5*time.Second)
	case kind == page.Full:
		retryAfter(c, relay.FullWait)
	}
	switch kind {
	case page.Internal:
		s.Log.Error("request failed", "id", id, "route", c.FullPath(), "error", err)
	case page.Unavailable, page.Full: // the details concern only the operator
		s.Log.Error("request failed", "id", id, "route", c.FullPath(), "error", err)
		p.Detail = map[page.Kind]string{page.Unavailable: relay.ErrUnavailable.Error(), page.Full: relay.ErrFull.Error()}[kind]
	default:
		p.Detail = err.Error()
	}
	b, err := json.Marshal(p)
	if err != nil {
		s.Log.Error("request failed", "id", id, "route", c.FullPath(), "error", err)
	}
	c.SetStatusCode(status)
	c.SetContentType(page.Trouble)
	c.Header(page.FieldProblem, string(kind))
	c.Response.SetBody(b)
	if n := c.Request.Header.ContentLength(); c.Request.IsBodyStream() && (n < 0 || n > prefetched) {
		c.SetConnectionClose() // nobody will read the rest of the body
	}
}

// prefetched is how many bytes of a body Hertz reads before it calls a handler.
const prefetched = 8 << 10

func retryAfter(c *app.RequestContext, wait time.Duration) {
	c.Header("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
}
