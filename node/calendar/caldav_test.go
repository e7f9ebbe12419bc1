package calendar

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// davServer serves a calendar with an appointment, a promise and a birthday.
func davServer(t *testing.T) string {
	t.Helper()
	dentist := episode(1, "appointment", "Dentist <b>&", "2026-10-20 10:00", time.Date(2026, 10, 20, 10, 0, 0, 0, time.UTC))
	promise := episode(3, "promise", "Ana will call her mother", "open", time.Time{})
	birthday := memory.Memory{ID: memory.ID{4}, Learnt: time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)}
	birthday.Type, birthday.Text, birthday.Slot = memory.Semantic, "Zoe's birthday is March 3", &memory.Slot{Subject: "zoe", Attribute: "birthday", Value: "March 3"}
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(serve.ListPage{Memories: []memory.Memory{dentist, promise, birthday}})
	})
	door := DAVDoor(Config{Wearer: "Ana", Zone: time.UTC}, api)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/k/key")
		r.Body = http.MaxBytesReader(w, r.Body, door.Body)
		door.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/k/key"
}

func davAsk(t *testing.T, method, url, depth, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Depth", depth)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode == http.StatusMultiStatus {
		if err := xml.Unmarshal(b, new(struct {
			XMLName xml.Name `xml:"DAV: multistatus"`
		})); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
	}
	return res.StatusCode, string(b)
}

const queryOf = `<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><D:getetag/><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="COMP">RANGE</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`

func TestCalDAV(t *testing.T) {
	url := davServer(t)
	code, body := davAsk(t, "PROPFIND", url+"/caldav/", "1", `<propfind xmlns="DAV:"><prop><resourcetype/><x xmlns="urn:other"/></prop></propfind>`)
	if code != 207 || !strings.Contains(body, "<D:href>/k/key/caldav/locket/</D:href>") || !strings.Contains(body, "<C:calendar/>") || !strings.Contains(body, `<x xmlns="urn:other"/></D:prop><D:status>HTTP/1.1 404`) {
		t.Errorf("%d %s", code, body)
	}
	for _, c := range []struct {
		comp, window string
		want         []string
	}{
		{"VEVENT", "", []string{"Dentist", "Zoe"}}, {"VTODO", "", []string{"mother"}},
		{"VEVENT", `<C:time-range start="20261020T093000Z" end="20261020T110000Z"/>`, []string{"Dentist"}},
		{"VEVENT", `<C:time-range start="20270301T000000Z" end="20270401T000000Z"/>`, []string{"Zoe"}},
		{"VEVENT", `<C:time-range start="20260401T000000Z" end="20260501T000000Z"/>`, nil},
		{"VJOURNAL", "", nil},
	} {
		code, body := davAsk(t, "REPORT", url+"/caldav/locket/", "1", strings.NewReplacer("COMP", c.comp, "RANGE", c.window).Replace(queryOf))
		if code != 207 || strings.Count(body, "<D:response>") != len(c.want) {
			t.Errorf("%s %s: %d %s", c.comp, c.window, code, body)
		}
		for _, w := range c.want {
			if !strings.Contains(body, w) {
				t.Errorf("%s %s: no %s in %s", c.comp, c.window, w, body)
			}
		}
		if strings.Contains(body, "METHOD") {
			t.Errorf("a METHOD in %s", body)
		}
	}
	entry := url + "/caldav/locket/" + memory.ID{1}.String() + ".ics"
	if code, body := davAsk(t, "GET", entry, "", ""); code != 200 || !strings.Contains(body, "SUMMARY:Dentist <b>&\r\n") {
		t.Errorf("%d %s", code, body)
	}
	multi := `<C:calendar-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><D:getetag/></D:prop><D:href>/k/key/caldav/locket/` + memory.ID{1}.String() + `.ics</D:href><D:href>/other</D:href></C:calendar-multiget>`
	if code, body := davAsk(t, "REPORT", url+"/caldav/locket/", "1", multi); code != 207 || !strings.Contains(body, "<D:getetag>") || !strings.Contains(body, "<D:href>/other</D:href><D:status>HTTP/1.1 404") {
		t.Errorf("%d %s", code, body)
	}
	for _, method := range []string{"PUT", "DELETE", "PROPPATCH", "MKCALENDAR", "MOVE"} {
		if code, body := davAsk(t, method, entry, "", "x"); code != 403 || !strings.Contains(body, "is read-only") {
			t.Errorf("%s: %d %s", method, code, body)
		}
	}
}

// A body that is cut off, is too long, or asks for something that does not exist is
// refused with a specific error.
func TestCalDAVBadInput(t *testing.T) {
	url := davServer(t)
	whole := strings.NewReplacer("COMP", "VEVENT", "RANGE", "").Replace(queryOf)
	for n := 1; n < len(whole); n += 7 {
		if code, body := davAsk(t, "REPORT", url+"/caldav/locket/", "1", whole[:n]); code != 400 {
			t.Errorf("at %d: %d %s", n, code, body)
		}
	}
	for _, c := range []struct {
		method, path, depth, body string
		code                      int
	}{
		{"PROPFIND", "/caldav/", "infinity", "", 403}, {"PROPFIND", "/caldav/other/", "0", "", 404}, {"REPORT", "/caldav/", "1", whole, 404},
		{"REPORT", "/caldav/locket/", "1", `<sync-collection xmlns="DAV:"/>`, 403}, {"REPORT", "/caldav/locket/", "1", "", 403},
		{"REPORT", "/caldav/locket/", "1", strings.NewReplacer("COMP", "VEVENT", "RANGE", `<C:time-range start="soon"/>`).Replace(queryOf), 400},
		{"REPORT", "/caldav/locket/", "1", strings.NewReplacer("COMP", "VEVENT", "RANGE", `<C:prop-filter name="UID"/>`).Replace(queryOf), 403},
		{"PROPFIND", "/caldav/", "0", strings.Repeat("<a>", 90000), 413}, {"PROPFIND", "/caldav/", "0", strings.Repeat("<a>", 20000), 400},
		{"GET", "/caldav/locket/", "", "", 405}, {"GET", "/caldav/locket/../x.ics", "", "", 404},
	} {
		if code, body := davAsk(t, c.method, url+c.path, c.depth, c.body); code != c.code {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.path, code, c.code, body)
		}
	}
}

// A request of a few kB does not cause an answer of gigabytes.
func TestCalDAVAmplification(t *testing.T) {
	url := davServer(t)
	file := `/caldav/locket/` + memory.ID{1}.String() + `.ics</D:href>`
	multi := func(props, hrefs string) string {
		return `<C:calendar-multiget xmlns:D="DAV:" xmlns:C="` + nsCal + `"><D:prop>` + props + `</D:prop>` + hrefs + `</C:calendar-multiget>`
	}
	var distinct strings.Builder
	for i := range maxProps + 1 {
		fmt.Fprintf(&distinct, "<D:p%d/>", i)
	}
	space := `<D:prop xmlns:x="urn:` + strings.Repeat("y", 8000) + `">` // declared once, used by each
	for _, c := range []struct {
		method, body, has string
		code, times       int
	}{
		{"REPORT", multi(strings.Repeat("<C:calendar-data/>", 10000), "<D:href>"+file), "<C:calendar-data>", 207, 1},
		{"REPORT", multi("<D:getetag/>", strings.Repeat("<D:href>/k/key"+file, 1000)), "<D:getetag>", 207, 1},
		{"REPORT", multi("<D:getetag/>", "<D:href>/a"+file+"<D:href>/b"+file), "<D:getetag>", 207, 1},
		{"REPORT", multi("<D:getetag/>", strings.Repeat("<D:href>/gone</D:href>", 1000)), "/gone", 207, 1},
		{"PROPFIND", `<D:propfind xmlns:D="DAV:"><D:prop>` + strings.Repeat("<D:unknown/>", 1000) + `</D:prop></D:propfind>`, "<D:unknown/>", 207, 4},
		{"PROPFIND", `<D:propfind xmlns:D="DAV:"><D:prop>` + distinct.String() + `</D:prop></D:propfind>`, "want at most 50", 400, 1},
		{"PROPFIND", `<D:propfind xmlns:D="DAV:">` + space + "<x:a/><x:b/></D:prop></D:propfind>", "with 8192 bytes", 400, 1},
		{"REPORT", multi(distinct.String(), "<D:href>"+file), "want at most 50", 400, 1},
	} {
		if code, body := davAsk(t, c.method, url+"/caldav/locket/", "1", c.body); code != c.code || strings.Count(body, c.has) != c.times {
			t.Errorf("%s %.200s: %d, %d times %s in %d bytes", c.method, c.body, code, strings.Count(body, c.has), c.has, len(body))
		}
	}
}

// An answer that would be too long is refused, and not held in memory.
func TestCalDAVAnswerBound(t *testing.T) {
	var m multistatus
	o := object{path: davCal + "x.ics", body: make([]byte, 1<<20)}
	want := &names{}
	if err := xml.Unmarshal([]byte(`<prop><calendar-data xmlns="`+nsCal+`"/></prop>`), want); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		m.add(&dav{}, o.path, o.props(true), want)
		m.missing(strings.Repeat("x", 1<<20))
	}
	w := httptest.NewRecorder()
	if err := m.write(w); err == nil || !strings.Contains(err.Error(), "time-range") || m.Len() > maxAnswer+6<<20 || w.Body.Len() > 0 {
		t.Errorf("%v, %d bytes", err, m.Len())
	}
}
