package calendar

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
)

// An app that may read must not be able to fill the node's memory with one request:
// repeated names are dropped, and the answer is limited.
const (
	maxProps     = 50       // different properties in one request
	maxPropBytes = 8 << 10  // of their names and namespaces together
	maxAnswer    = 16 << 20 // bytes of an answer; 2,000 entries with their files take about 3 MB
)

// limit drops repeated names, and refuses more than any client asks for.
func (n *names) limit() error {
	if n == nil {
		return nil
	}
	seen, long := map[xml.Name]bool{}, 0
	n.Any = slices.DeleteFunc(n.Any, func(a struct{ XMLName xml.Name }) bool {
		again := seen[a.XMLName]
		if !again {
			seen[a.XMLName] = true
			long += len(a.XMLName.Space) + len(a.XMLName.Local)
		}
		return again
	})
	if len(seen) > maxProps || long > maxPropBytes {
		return refusal(http.StatusBadRequest, "prop: %d properties with names of %d bytes: want at most %d with %d bytes", len(seen), long, maxProps, maxPropBytes)
	}
	return nil
}

// multistatus is an answer about several resources (RFC 4918, 13).
type multistatus struct{ bytes.Buffer }

// full reports whether the answer is too long. Then nothing more is added.
func (m *multistatus) full() bool { return m.Len() > maxAnswer }

func (m *multistatus) missing(href string) {
	if m.full() {
		return
	}
	m.WriteString("<D:response><D:href>" + escape(href) + "</D:href><D:status>HTTP/1.1 404 Not Found</D:status></D:response>")
}

// write sends the answer, or refuses one that is too long.
func (m *multistatus) write(w http.ResponseWriter) error {
	if m.full() {
		return refusal(http.StatusInsufficientStorage, "the answer has over %d bytes: ask for fewer entries, as by a time-range", maxAnswer)
	}
	w.Header().Set("Content-Type", "application/xml; charset=utf-8")
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = io.WriteString(w, xml.Header+`<D:multistatus xmlns:D="DAV:" xmlns:C="`+nsCal+`" xmlns:S="`+nsCS+`">`)
	_, _ = m.WriteTo(w)
	_, _ = io.WriteString(w, "</D:multistatus>") // an error means that the client has left
	return nil
}
