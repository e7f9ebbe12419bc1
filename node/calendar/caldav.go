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
// PROPFIND, REPORT (calendar-query by component and time, calendar-multiget) and GET
// are answered. What would change something is 403.

// DAVPattern is where it is; the key of the app may stand before it.
const DAVPattern = "/caldav/"

const (
	davHome = "/caldav/"
	davCal  = "/caldav/locket/"

	nsDAV = "DAV:"
	nsCal = "urn:ietf:params:xml:ns:caldav"
	nsCS  = "http://calendarserver.org/ns/"
)

// maxDAV is the greatest body of a request, in bytes: a thousand addresses of entries.
const maxDAV = 256 << 10

// DAVDoor gives the calendar over an API.
func DAVDoor(c Config, api http.Handler) serve.Door {
	if c.Now == nil {
		c.Now = time.Now
	}
	return serve.Door{Needs: serve.RightRead, Body: maxDAV, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		prefix, _, _ := strings.Cut(r.RequestURI, davHome) // with the key, where it is in the path
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
			err = refusal(http.StatusForbidden, "the calendar can only be read")
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
	ctx    context.Context
	client *serve.Client
	prefix string // of addresses
}

// object is an entry as a file.
type object struct {
	entry
	path, tag string
	body      []byte
}

// objects gives the entries that an app may see.
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

// of gives the entry of a path.
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
	_, _ = w.Write(o.body) // who went away needs no answer
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
		return refusal(http.StatusBadRequest, "the body did not come")
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

// calendar are the calendar's properties. The entries are listed only for its ctag,
// which changes with any of them, and given then.
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

// compFilter is a filter by component and time; what else a filter may have is not
// known, and refused.
type compFilter struct {
	Name  string       `xml:"name,attr"`
	Comps []compFilter `xml:"urn:ietf:params:xml:ns:caldav comp-filter"`
	Range *struct {
		Start string `xml:"start,attr"`
		End   string `xml:"end,attr"`
	} `xml:"urn:ietf:params:xml:ns:caldav time-range"`
	Other []struct {
		XMLName xml.Name
	} `xml:",any"`
}

func (d *dav) report(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		XMLName xml.Name
		Prop    *names   `xml:"DAV: prop"`
		Hrefs   []string `xml:"DAV: href"`
		Filter  struct {
			Comp compFilter `xml:"urn:ietf:params:xml:ns:caldav comp-filter"`
		} `xml:"urn:ietf:params:xml:ns:caldav filter"`
	}
	if err := errors.Join(read(r, &q), q.Prop.limit()); err != nil {
		return err
	}
	if name := strings.TrimSuffix(r.URL.Path, "/") + "/"; name != davCal {
		return refusal(http.StatusNotFound, "there is no calendar")
	}
	var wants func(*object) bool
	switch q.XMLName {
	case xml.Name{Space: nsCal, Local: "calendar-multiget"}:
	case xml.Name{Space: nsCal, Local: "calendar-query"}:
		var err error
		if wants, err = q.Filter.Comp.match(); err != nil {
			return err
		}
	default:
		return refusal(http.StatusForbidden, "report %.60q: want calendar-query or calendar-multiget", q.XMLName.Local)
	}
	all, err := d.objects()
	if err != nil {
		return err
	}
	var m multistatus
	if wants != nil {
		for i := range all {
			if wants(&all[i]) {
				m.add(d, all[i].path, all[i].props(true), q.Prop)
			}
		}
		return m.write(w)
	}
	at := make(map[string]*object, len(all))
	for i := range all {
		at[all[i].path] = &all[i]
	}
	told := make(map[string]bool, len(q.Hrefs)) // each once, whatever stands before it
	for _, h := range q.Hrefs {
		name := h
		if i := strings.Index(h, davCal); i >= 0 {
			name = h[i:]
		}
		if told[name] {
			continue
		}
		told[name] = true
		if o := at[name]; o != nil {
			m.add(d, o.path, o.props(true), q.Prop)
		} else {
			m.missing(h)
		}
	}
	return m.write(w)
}

// match gives the function that a filter is.
func (f *compFilter) match() (func(*object) bool, error) {
	refused := refusal(http.StatusForbidden, "filter: want VCALENDAR, and within it VEVENT or VTODO, with a time-range or without")
	if f.Name != "VCALENDAR" || len(f.Comps) > 1 || f.Range != nil || len(f.Other) > 0 {
		return nil, refused
	}
	if len(f.Comps) == 0 {
		return func(*object) bool { return true }, nil
	}
	c := &f.Comps[0]
	if len(c.Comps) > 0 || len(c.Other) > 0 {
		return nil, refused
	}
	var from, to time.Time
	if c.Range != nil {
		for _, at := range []struct {
			text string
			to   *time.Time
		}{{c.Range.Start, &from}, {c.Range.End, &to}} {
			if at.text == "" {
				continue
			}
			t, err := time.Parse(formUTC, at.text)
			if err != nil {
				return nil, refusal(http.StatusBadRequest, "time-range: %.40q is no time in UTC such as 20260301T000000Z", at.text)
			}
			*at.to = t
		}
	}
	return func(o *object) bool {
		return o.component() == c.Name && (c.Range == nil || o.within(from, to))
	}, nil
}

// within reports whether an entry is, in part, between two times; zero: without end.
func (e *entry) within(from, to time.Time) bool {
	if e.at.IsZero() {
		return true // a task without a day is always to be done
	}
	long := 24 * time.Hour
	if e.clock {
		long = time.Second
		if f := e.m.Fields.Episodic; f != nil && f.Ended.After(f.Started) {
			long = f.Ended.Sub(f.Started)
		}
	}
	in := func(at time.Time) bool {
		return (from.IsZero() || at.Add(long).After(from)) && (to.IsZero() || at.Before(to))
	}
	if !e.yearly {
		return in(e.at)
	}
	if from.IsZero() || to.IsZero() {
		return to.IsZero() || e.at.Before(to)
	}
	for year := from.Year() - 1; year <= to.Year() && year <= from.Year()+8; year++ { // 29 February comes within 8 years
		at := time.Date(year, e.at.Month(), e.at.Day(), 0, 0, 0, 0, e.at.Location())
		if at.Day() == e.at.Day() && !at.Before(e.at) && in(at) {
			return true
		}
	}
	return false
}

// add tells of a resource what was asked for; of what it lacks, that it does.
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

// write writes an element. A name of another space declares it.
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
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder takes everything
	return b.String()
}
