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

// smallest is the size in bytes from which answers are compressed. Smaller
// answers fit into one packet anyway.
const smallest = 1 << 10

// zstdWriter has bounded memory and can be shared, because EncodeAll keeps no
// state.
var zstdWriter = sync.OnceValue(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20))
	if err != nil {
		panic(err) // the options are constants
	}
	return w
})

// compress compresses an answer if the client accepts that. Sealed bodies do
// not get smaller, but headers, logs and JSON do. Blobs and streams are not
// compressed. An answer never contains a part of the request together with a
// secret, so the compressed size reveals nothing (as in the BREACH attack).
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

// accepted returns which of the available encodings Accept-Encoding (RFC 9110,
// 12.5.3) prefers, zstd if both are equal, and "" if it accepts neither.
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

// media refuses a body with another media type, or with a content encoding. A
// body is signed as it is sent, and the relay decompresses nothing.
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
