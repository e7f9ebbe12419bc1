package calendar

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/locket-dev/locket/node/serve"
)

// The calendar as CalDAV (RFC 4791), to be read:
//
//	/caldav/                   the principal, who is its own home
//	/caldav/locket/            the calendar
//	/caldav/locket/ID.ics      an entry
//
// PROPFIND, REPORT (calendar-query by component and time, calendar-multiget) and GET are
// answered. Requests that would change something get a 403.

// DAVPattern is the path of the calendar; the app's key may precede it.
const DAVPattern = "/caldav/"

const (
	davHome = "/caldav/"
	davCal  = "/caldav/locket/"

	nsDAV = "DAV:"
	nsCal = "urn:ietf:params:xml:ns:caldav"
	nsCS  = "http://calendarserver.org/ns/"
)

// maxDAV is the maximum size of a request body, in bytes: a thousand addresses of entries.
const maxDAV = 256 << 10

// DAVDoor serves the calendar over an API.
func DAVDoor(c Config, api http.Handler) serve.Door {
	if c.Now == nil {
		c.Now = time.Now
	}
	return serve.Door{Needs: serve.RightRead, Body: maxDAV, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefix, _, _ := strings.Cut(r.RequestURI, davHome) // including the key, if it is in the path
		d := &dav{Config: c, ctx: r.Context(), client: serve.AsApp(api, r), prefix: prefix}
		w.Header().Set("DAV", "1, calendar-access")
		var err error
		switch r.Method {
		case http.MethodOptions:
			w.Header().Set("Allow", "OPTIONS, GET, HEAD, PROPFIND, REPORT")
		case http.MethodGet, http.MethodHead:
			err = d.get(w, r)
		case "PROPFIND":
			err = d.propfind(w, r)
		case "REPORT":
			err = d.report(w, r)
		default:
			err = refusal(http.StatusForbidden, "the calendar is read-only")
		}
		if err != nil {
			refuse(w, err)
		}
	})}
}

func refusal(status int, format string, args ...any) error {
	return &serve.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// dav answers one request.
type dav struct {
	Config
	ctx    context.Context // of the request
	client *serve.Client
	prefix string // of addresses
}

// object is an entry in the form of a file.
type object struct {
	entry
	path, tag string
	body      []byte
}

// objects returns the entries that an app may see.
func (d *dav) objects() ([]object, error) {
	ms, err := list(d.ctx, d.client, d.Now())
	if err != nil {
		return nil, err
	}
	var out []object
	for i := range ms {
		e, ok := entryOf(&ms[i], d.Zone)
		if !ok {
			continue
		}
		o := object{entry: e, path: davCal + ms[i].ID.String() + ".ics", body: file(d.Config, []entry{e}, false)}
		o.tag = tagOf(o.body)
		out = append(out, o)
	}
	return out, nil
}

func tagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// of returns the entry for a path.
func of(all []object, name string) *object {
	for i := range all {
		if all[i].path == name {
			return &all[i]
		}
	}
	return nil
}

func (d *dav) get(w http.ResponseWriter, r *http.Request) error {
	if path.Ext(r.URL.Path) != ".ics" {
		return refusal(http.StatusMethodNotAllowed, "a folder: ask with PROPFIND")
	}
	all, err := d.objects()
	if err != nil {
		return err
	}
	o := of(all, r.URL.Path)
	if o == nil {
		return refusal(http.StatusNotFound, "there is no such entry")
	}
	w.Header().Set("ETag", o.tag)
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	_, _ = w.Write(o.body) // an error means that the client has left
	return nil
}

// names are the properties that a request asks for; nil: all.
type names struct {
	Any []struct {
		XMLName xml.Name
	} `xml:",any"`
}

// read reads a body, which may be empty.
func read(r *http.Request, v any) error {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			return refusal(http.StatusRequestEntityTooLarge, "a body has at most %d bytes", maxDAV)
		}
		return refusal(http.StatusBadRequest, "the body did not arrive")
	}
	if len(bytes.TrimSpace(b)) == 0 {
		return nil
	}
	if err := xml.Unmarshal(b, v); err != nil {
		return refusal(http.StatusBadRequest, "the body: %v", err)
	}
	return nil
}

func (d *dav) propfind(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		XMLName xml.Name `xml:"DAV: propfind"`
		Prop    *names   `xml:"DAV: prop"`
	}
	if err := errors.Join(read(r, &q), q.Prop.limit()); err != nil {
		return err
	}
	depth := r.Header.Get("Depth")
	if depth != "0" && depth != "1" {
		return refusal(http.StatusForbidden, "Depth: want 0 or 1")
	}
	var m multistatus
	switch name := r.URL.Path; name {
	case davHome:
		m.add(d, davHome, d.home(), q.Prop)
		if depth == "1" {
			props, _, err := d.calendar(q.Prop)
			if err != nil {
				return err
			}
			m.add(d, davCal, props, q.Prop)
		}
	case davCal, strings.TrimSuffix(davCal, "/"):
		props, all, err := d.calendar(q.Prop)
		if err == nil && all == nil && depth == "1" {
			all, err = d.objects()
		}
		if err != nil {
			return err
		}
		m.add(d, davCal, props, q.Prop)
		if depth == "1" {
			for i := range all {
				m.add(d, all[i].path, all[i].props(false), q.Prop)
			}
		}
	default:
		all, err := d.objects()
		if err != nil {
			return err
		}
		o := of(all, name)
		if o == nil {
			return refusal(http.StatusNotFound, "there is no such entry")
		}
		m.add(d, o.path, o.props(false), q.Prop)
	}
	return m.write(w)
}

// prop is a property and its value as XML.
type prop struct {
	space, name, value string
}

func (d *dav) href(name string) string {
	return "<D:href>" + escape(d.prefix+name) + "</D:href>"
}

func (d *dav) home() []prop {
	return []prop{
		{nsDAV, "resourcetype", "<D:collection/><D:principal/>"}, {nsDAV, "displayname", escape(d.Wearer)},
		{nsDAV, "current-user-principal", d.href(davHome)}, {nsDAV, "principal-URL", d.href(davHome)},
		{nsCal, "calendar-home-set", d.href(davHome)}, {nsDAV, "current-user-privilege-set", readOnly},
	}
}

const readOnly = "<D:privilege><D:read/></D:privilege>"

// calendar returns the calendar's properties. The entries are listed, and returned, only if the
// ctag is requested, which changes with any of them.
func (d *dav) calendar(want *names) (out []prop, all []object, err error) {
	out = []prop{
		{nsDAV, "resourcetype", "<D:collection/><C:calendar/>"}, {nsDAV, "displayname", escape("Locket: " + d.Wearer)},
		{nsDAV, "current-user-principal", d.href(davHome)}, {nsDAV, "owner", d.href(davHome)}, {nsDAV, "current-user-privilege-set", readOnly},
		{nsCal, "supported-calendar-component-set", `<C:comp name="VEVENT"/><C:comp name="VTODO"/>`},
		{nsCal, "supported-calendar-data", `<C:calendar-data content-type="text/calendar" version="2.0"/>`},
		{nsDAV, "supported-report-set", "<D:supported-report><D:report><C:calendar-query/></D:report></D:supported-report><D:supported-report><D:report><C:calendar-multiget/></D:report></D:supported-report>"},
	}
	if want == nil || !want.has(nsCS, "getctag") {
		return out, nil, nil
	}
	if all, err = d.objects(); err != nil {
		return nil, nil, err
	}
	var tags strings.Builder
	for i := range all {
		tags.WriteString(all[i].path + all[i].tag)
	}
	return append(out, prop{nsCS, "getctag", escape(tagOf([]byte(tags.String())))}), all, nil
}

func (o *object) component() string {
	if o.task {
		return "VTODO"
	}
	return "VEVENT"
}

func (o *object) props(data bool) []prop {
	out := []prop{
		{nsDAV, "resourcetype", ""}, {nsDAV, "getetag", escape(o.tag)}, {nsDAV, "getcontentlength", fmt.Sprint(len(o.body))},
		{nsDAV, "getcontenttype", "text/calendar; charset=utf-8; component=" + o.component()}, {nsDAV, "current-user-privilege-set", readOnly},
	}
	if data {
		out = append(out, prop{nsCal, "calendar-data", escape(string(o.body))})
	}
	return out
}

func (n *names) has(space, name string) bool {
	for _, a := range n.Any {
		if a.XMLName.Space == space && a.XMLName.Local == name {
			return true
		}
	}
	return false
}

// add writes the requested properties of a resource, and which of them it does not have.
func (m *multistatus) add(d *dav, name string, has []prop, want *names) {
	if m.full() {
		return
	}
	var found, lacks strings.Builder
	if want == nil {
		for _, p := range has {
			if p.name != "calendar-data" {
				p.write(&found)
			}
		}
	} else {
		for _, a := range want.Any {
			p := prop{a.XMLName.Space, a.XMLName.Local, ""}
			to := &lacks
			for _, h := range has {
				if h.space == p.space && h.name == p.name {
					p, to = h, &found
				}
			}
			p.write(to)
		}
	}
	m.WriteString("<D:response>" + d.href(name))
	if found.Len() > 0 || lacks.Len() == 0 {
		m.WriteString("<D:propstat><D:prop>" + found.String() + "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat>")
	}
	if lacks.Len() > 0 {
		m.WriteString("<D:propstat><D:prop>" + lacks.String() + "</D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>")
	}
	m.WriteString("</D:response>")
}

// write writes an element. A name from another namespace declares it.
func (p *prop) write(b *strings.Builder) {
	open, end := map[string]string{nsDAV: "D:", nsCal: "C:", nsCS: "S:"}[p.space]+p.name, ""
	end = open
	if p.space != nsDAV && p.space != nsCal && p.space != nsCS {
		open = p.name + ` xmlns="` + escape(p.space) + `"`
		end = p.name
	}
	if p.value == "" {
		b.WriteString("<" + open + "/>")
		return
	}
	b.WriteString("<" + open + ">" + p.value + "</" + end + ">")
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}
