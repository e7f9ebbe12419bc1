package api

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
	"sync"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/sync/remote/page"
)

// smallest is the size from which an answer is compressed: what is below fits
// into one packet anyway.
const smallest = 1 << 10

// zstdWriter has bounded memory and is shared: EncodeAll keeps no state.
var zstdWriter = sync.OnceValue(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // of constants
	}
	return w
})

// compress makes an answer smaller for who takes that. Bodies are sealed and
// get no smaller, but headers, logs and JSON do; blobs and streams go as they
// are. Nothing that a request brings is reflected beside a secret, so that sizes
// tell nothing.
func compress(c *app.RequestContext) {
	if c.Response.IsBodyStream() || len(c.Response.Header.ContentEncoding()) > 0 {
		return
	}
	switch string(c.Response.Header.ContentType()) {
	case page.CBOR, page.Trouble, "application/json":
	default:
		return
	}
	c.Response.Header.Set("Vary", "Accept-Encoding")
	body := c.Response.BodyBytes()
	if len(body) < smallest {
		return
	}
	var out []byte
	how := accepted(string(c.GetHeader("Accept-Encoding")))
	switch how {
	case "zstd":
		out = zstdWriter().EncodeAll(body, nil)
	case "gzip":
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
		if err == nil {
			_, err = w.Write(body)
		}
		if err != nil || w.Close() != nil {
			return
		}
		out = b.Bytes()
	}
	if how == "" || len(out) >= len(body) {
		return
	}
	c.Response.Header.Set("Content-Encoding", how)
	c.Response.SetBody(out)
}

// accepted gives what Accept-Encoding (RFC 9110, 12.5.3) prefers of what there
// is, zstd where both are as good; "" for neither.
func accepted(field string) string {
	best, how := 0.0, ""
	for item := range strings.SplitSeq(field, ",") {
		name, param, _ := strings.Cut(item, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "gzip" && name != "zstd" {
			continue
		}
		weight := 1.0
		if q, ok := strings.CutPrefix(strings.ReplaceAll(param, " ", ""), "q="); ok {
			w, err := strconv.ParseFloat(q, 64)
			if err != nil || w < 0 || w > 1 {
				continue
			}
			weight = w
		}
		if weight > best || weight == best && weight > 0 && name == "zstd" {
			best, how = weight, name
		}
	}
	return how
}

// media refuses a body that says that it is something else, or compressed:
// what comes is signed as it stands, and nothing here unpacks anything.
func media(c *app.RequestContext) error {
	if e := string(c.GetHeader("Content-Encoding")); e != "" && !strings.EqualFold(e, "identity") {
		return errEncoding
	}
	kind, _, _ := strings.Cut(string(c.Request.Header.ContentType()), ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "", page.CBOR, page.Bytes:
		return nil
	}
	return errMedia
}
