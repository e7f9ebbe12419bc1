package leakscan

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// view is a form in which a remnant could be read.
type view struct {
	name   string
	lower  []byte // in lower case
	normal string // folded by memory.Normal
}

func viewOf(name string, b []byte) view {
	return view{name, bytes.ToLower(b), memory.Normal(strings.ToValidUTF8(string(b), " "))}
}

// maxUnpacked limits the result of decompressing one stretch, in bytes.
const maxUnpacked = 64 << 20

// packed are compression formats by their first bytes.
var packed = []struct {
	name  string
	magic []byte
	open  func(io.Reader) (io.Reader, error)
}{
	{"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd}, func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r, zstd.WithDecoderConcurrency(1)) }},
	{"gzip", []byte{0x1f, 0x8b, 8}, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"zlib", []byte{0x78, 0x01}, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
	{"zlib", []byte{0x78, 0x9c}, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
	{"zlib", []byte{0x78, 0xda}, func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }},
}

// views returns a remnant unchanged, everything that is compressed anywhere in it, and the terms of
// an index segment.
func views(b []byte) []view {
	all := []view{viewOf("it is", b)}
	for _, p := range packed {
		for at := 0; ; {
			i := bytes.Index(b[at:], p.magic)
			if i < 0 {
				break
			}
			at += i
			if r, err := p.open(bytes.NewReader(b[at:])); err == nil {
				// The bytes after the stretch cause an error; what was read before counts.
				plain, _ := io.ReadAll(io.LimitReader(r, maxUnpacked))
				if len(plain) > 0 {
					all = append(all, viewOf(p.name, plain))
				}
			}
			at += len(p.magic)
		}
	}
	if names, terms, ok, err := recall.SegmentWords(b); ok {
		if err != nil {
			all = append(all, viewOf("segment that can't be read", b))
		}
		all = append(all, viewOf("index segment", []byte(strings.Join(append(names, terms...), "\n"))))
	}
	return all
}

// needle is a searched text.
type needle struct {
	text   string
	normal string
	forms  []form
}

type form struct {
	name string
	b    []byte // in lower case
}

func prepare(texts []string) []needle {
	var out []needle
	for _, t := range texts {
		n := needle{text: t, normal: memory.Normal(t)}
		add := func(name string, b []byte) { n.forms = append(n.forms, form{name, bytes.ToLower(b)}) }
		for _, s := range []string{t, strings.ToLower(t)} {
			add("UTF-8", []byte(s))
			add("UTF-16LE", utf16Bytes(s, false))
			add("UTF-16BE", utf16Bytes(s, true))
			add("hexadecimal", []byte(hex.EncodeToString([]byte(s))))
			for skip := range 3 {
				add("base64", inBase64(s, skip))
			}
		}
		out = append(out, n)
	}
	return out
}

// in returns the form in which a needle is in a view; empty: it is not in it.
func (n *needle) in(v *view) string {
	for _, f := range n.forms {
		if bytes.Contains(v.lower, f.b) {
			return f.name
		}
	}
	if n.normal != "" && strings.Contains(v.normal, n.normal) {
		return "words"
	}
	return ""
}

func utf16Bytes(s string, big bool) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return b
}

// inBase64 is the part of the base64 of a text that does not depend on the text around it, if skip
// bytes of a group of three precede it.
func inBase64(s string, skip int) []byte {
	b := append(make([]byte, skip), s...)
	text := base64.RawStdEncoding.EncodeToString(b)
	from := []int{0, 2, 3}[skip]
	to := len(b) / 3 * 4
	return []byte(text[min(from, to):to])
}
