package foreign

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
)

// maxParts limits the parts of one message, and their nesting.
const (
	maxParts = 100
	maxDepth = 8
)

// maxHead limits the header of a message, in bytes.
const maxHead = 1 << 20

// readMbox reads a mailbox in one file (RFC 4155, as Thunderbird and Google Takeout write
// it): a resource for each message, with its plain text.
func readMbox(r *Result, name string, b []byte) error {
	if !bytes.HasPrefix(b, []byte("From ")) {
		return fmt.Errorf("%w: %s: want a mailbox, which begins with \"From \"", memory.ErrInvalid, name)
	}
	n := 0
	for len(b) > 0 && !r.ended() {
		end := nextMessage(b)
		_, raw, _ := bytes.Cut(b[:end], []byte("\n"))
		b = b[end:]
		n++
		r.message(fmt.Sprintf("%s: message %d", name, n), raw)
	}
	return nil
}

// nextMessage returns where the second message begins: at a line "From " after an empty
// one.
func nextMessage(b []byte) int {
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte("\nFrom "))
		if i < 0 {
			return len(b)
		}
		at += i + 1
		if before := b[:at]; bytes.HasSuffix(before, []byte("\n\n")) || bytes.HasSuffix(before, []byte("\n\r\n")) {
			return at
		}
	}
}

func (r *Result) message(where string, raw []byte) {
	head, _, _ := bytes.Cut(raw[:min(len(raw), maxHead+4)], []byte("\n\n"))
	head, _, _ = bytes.Cut(head, []byte("\n\r\n"))
	if len(head) > maxHead {
		r.skip(where, "its header has more than %d bytes", maxHead)
		return
	}
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		r.skip(where, "%v", err)
		return
	}
	words := mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
		b, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		s, err := decoded(charset, b)
		return strings.NewReader(s), err
	}}
	field := func(name string) string {
		s := m.Header.Get(name)
		if d, err := words.DecodeHeader(s); err == nil {
			s = d
		}
		return strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
	}
	left := maxParts
	text, err := plainText(m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body, 0, &left)
	if err != nil {
		r.skip(where, "%v", err)
		return
	}
	at, _ := m.Header.Date() // zero: unknown
	subject, from := cmp.Or(field("Subject"), "(no subject)"), field("From")
	title := cut(subject)
	if from != "" {
		title = fmt.Sprintf("%s, from %s", cut(subject), cut(from))
	}
	metadata := map[string]string{"mail_from": from, "mail_to": field("To"), "mail_id": field("Message-Id")}
	key := cmp.Or(field("Message-Id"), string(raw))
	pieces := inPieces(text, memory.MaxText-len(title)-64)
	if len(pieces) == 0 {
		r.skip(where, "there is no plain text")
	}
	for i, piece := range pieces {
		shown := title
		if len(pieces) > 1 {
			shown = fmt.Sprintf("%s (%d of %d)", title, i+1, len(pieces))
		}
		if add := r.add(Mbox, where, fmt.Sprintf("%s\x1f%d", key, i), shown, at, metadata); add != nil {
			add.Type = memory.Resource
			add.Fields.Resource = &memory.ResourceFields{Title: shown, MediaType: "text/plain", Content: piece}
		}
	}
}

// plainText returns the first readable text of a body.
func plainText(contentType, encoding string, body io.Reader, depth int, left *int) (string, error) {
	kind, params, err := mime.ParseMediaType(cmp.Or(contentType, "text/plain"))
	if err != nil {
		kind, params = "text/plain", nil
	}
	if strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" {
		if depth == maxDepth {
			return "", errors.New("its parts are nested too deep")
		}
		parts := multipart.NewReader(body, params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if errors.Is(err, io.EOF) {
				return "", nil
			}
			if err != nil {
				return "", err
			}
			if *left--; *left < 0 {
				return "", fmt.Errorf("it has more than %d parts", maxParts)
			}
			if p.FileName() != "" {
				continue
			}
			if s, err := plainText(p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p, depth+1, left); err != nil || s != "" {
				return s, err
			}
		}
	}
	if kind != "text/plain" {
		return "", nil
	}
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	b, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	s, err := decoded(params["charset"], b)
	return strings.TrimSpace(unquoted(s)), err
}

// decoded converts a text to UTF-8.
func decoded(charset string, b []byte) (string, error) {
	switch strings.ToLower(charset) {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		if utf8.Valid(b) {
			return string(b), nil
		}
	case "iso-8859-1", "latin1", "iso-8859-15", "windows-1252", "cp1252":
	default:
		return "", fmt.Errorf("its charset %q is not read", charset)
	}
	var s strings.Builder
	for _, c := range b {
		switch {
		case c < 0x80 || c >= 0xa0:
			s.WriteRune(rune(c))
		default:
			s.WriteRune(windows[c-0x80])
		}
	}
	return s.String(), nil
}

// windows has the characters of Windows-1252 in place of Latin-1's control characters.
var windows = [32]rune{'€', 0xfffd, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0xfffd, 'Ž', 0xfffd,
	0xfffd, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0xfffd, 'ž', 'Ÿ'}

// unquoted removes the quoted part of the mail that a mail answers, and the ">" that a
// mailbox puts before "From ".
func unquoted(s string) string {
	var out strings.Builder
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, ">") && !strings.HasPrefix(line, ">From ") {
			continue
		}
		out.WriteString(strings.TrimPrefix(line, ">"))
		out.WriteByte('\n')
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// readLocations reads the places where somebody was, from Google's location history: the
// Timeline.json that a phone exports, or the files of "Semantic Location History" of
// Takeout. A visit becomes an episode. Single points are not places, and are skipped.
func readLocations(r *Result, name string, b []byte, o Options) error {
	var whole any
	if err := decode(name, b, &whole); err != nil {
		return err
	}
	var list []any
	switch v := whole.(type) {
	case []any: // from an iPhone
		list = v
	case map[string]any:
		for _, key := range []string{"semanticSegments", "timelineObjects"} {
			if l, ok := v[key].([]any); ok {
				list = l
			}
		}
		if _, points := v["locations"]; points && list == nil {
			return fmt.Errorf("%w: %s: these are points without places: take Timeline.json, or the files of Semantic Location History", memory.ErrInvalid, name)
		}
	}
	if list == nil {
		return fmt.Errorf("%w: %s: want semanticSegments, timelineObjects or a list of visits", memory.ErrInvalid, name)
	}
	for i, e := range list {
		if r.ended() {
			break
		}
		m, _ := e.(map[string]any)
		v := visitOf(m)
		if v == nil {
			continue // a movement between places
		}
		where := fmt.Sprintf("%s: entry %d", name, i+1)
		if v.from.IsZero() || !v.to.After(v.from) || v.place == "" {
			r.skip(where, "it has no place, or no times")
			continue
		}
		from, to := v.from.In(o.zone()), v.to.In(o.zone())
		until := to.Format("15:04")
		if from.Format(time.DateOnly) != to.Format(time.DateOnly) {
			until = to.Format("2006-01-02 15:04")
		}
		add := r.add(Locations, where, from.UTC().Format(time.RFC3339)+"\x1f"+v.place, fmt.Sprintf("Was at %s, %s to %s", v.place, from.Format("2006-01-02 15:04"), until), v.from,
			map[string]string{"google_place": v.id})
		if add != nil {
			add.Type = memory.Episodic
			add.Fields.Episodic = &memory.EpisodicFields{EventType: "visit", Place: cut(v.place), Started: v.from, Ended: v.to}
			private := memory.Private
			add.Sensitivity = &private
		}
	}
	return nil
}

// visit is a time at a place.
type visit struct {
	from, to  time.Time
	place, id string
}

// visitOf parses an entry; nil: it is not a visit.
func visitOf(m map[string]any) *visit {
	within := func(v any, path ...string) any {
		for _, key := range path {
			m, _ := v.(map[string]any)
			v = m[key]
		}
		return v
	}
	if p := within(m, "placeVisit"); p != nil {
		v := &visit{from: instant(within(p, "duration", "startTimestamp")), to: instant(within(p, "duration", "endTimestamp")), id: word(within(p, "location", "placeId"))}
		place, address := word(within(p, "location", "name")), strings.Join(strings.Fields(word(within(p, "location", "address"))), " ")
		if v.place = cmp.Or(place, address); place != "" && address != "" {
			v.place += ", " + address
		}
		return v
	}
	top := within(m, "visit", "topCandidate")
	if top == nil {
		return nil
	}
	v := &visit{from: instant(m["startTime"]), to: instant(m["endTime"]), id: cmp.Or(word(within(top, "placeId")), word(within(top, "placeID")))}
	switch strings.ToUpper(strings.ReplaceAll(word(within(top, "semanticType")), " ", "_")) {
	case "HOME", "INFERRED_HOME":
		v.place = "home"
	case "WORK", "INFERRED_WORK":
		v.place = "work"
	default:
		at := cmp.Or(word(within(top, "placeLocation", "latLng")), strings.TrimPrefix(word(within(top, "placeLocation")), "geo:"))
		v.place = strings.NewReplacer("°", "", " ", "").Replace(at)
	}
	return v
}
