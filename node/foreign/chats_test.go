package foreign

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/locket-dev/locket/memory"
)

func readWith(t *testing.T, f Format, text string, o Options) Result {
	t.Helper()
	r, err := Read(t.Context(), f, "file", strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines returns what was said, as TIME SPEAKER: TEXT.
func lines(r Result) (out []string) {
	for _, a := range r.Adds {
		if a.Infers() {
			out = append(out, a.At.UTC().Format("0102 15:04:05")+" "+a.Speaker+": "+a.Text)
		}
	}
	return out
}

func TestClaude(t *testing.T) {
	r := readWith(t, Claude, `[{"uuid": "c1", "name": "Trip", "created_at": "2026-09-14T08:00:00Z", "chat_messages": [
		{"uuid": "m1", "sender": "human", "text": "old", "content": [{"type": "text", "text": "I moved to Ghent"}, {"type": "tool_use"}], "created_at": "2026-09-14T08:01:00.5Z"},
		{"uuid": "m2", "sender": "assistant", "text": "Nice", "created_at": "2026-09-14T08:02:00Z"},
		{"uuid": "m3", "sender": "human", "text": "My dog is called Rex"},
		{"uuid": "m4", "sender": "human", "text": "", "files": [{}]}]}, {"uuid": "c2"}]`, Options{})
	if got := lines(r); !slices.Equal(got, []string{"0914 08:01:00 : I moved to Ghent", "0914 08:00:00 : My dog is called Rex"}) || len(r.Skipped) != 1 {
		t.Errorf("%q, %v", got, r.Skipped)
	}
	if r.Adds[0].Metadata["claude_conversation"] != "Trip" || r.Adds[0].Tags != nil {
		t.Errorf("%+v", r.Adds[0])
	}
}

// The forms in which phones write a chat; the order of a date follows from the other
// dates.
func TestWhatsApp(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Brussels")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Zone: zone, Me: []string{"anna b."}}
	want := []string{"0903 06:12:00 Ben: I live in Ghent", "0914 06:12:00 Ben: two\nlines: here", "0914 18:13:00 : ok", "0914 18:13:00 : ok"}
	for name, text := range map[string]string{
		"Android":       "03/09/2026, 08:12 - Ben: I live in Ghent\n14/09/2026, 08:11 - Ben created group \"Trip\"\n14/09/2026, 08:12 - Ben: two\nlines: here\n14/09/2026, 08:12 - Ben: <Media omitted>\n14/09/2026, 20:13 - Anna B.: ok\n14/09/2026, 20:13 - Anna B.: ok\n",
		"Android, US":   "9/3/26, 8:12\u202fAM - Ben: I live in Ghent\r\n9/14/26, 8:12\u202fAM - Ben: two\r\nlines: here\r\n9/14/26, 8:13\u202fPM - Anna B.: ok\r\n9/14/26, 8:13\u202fPM - Anna B.: ok\r\n",
		"iPhone":        "[03.09.26, 08:12:00] Ben: I live in Ghent\n[14.09.26, 08:12:00] Ben: two\nlines: here\n\u200e[14.09.26, 08:12:30] Ben: \u200e<attached: 1.jpg>\n[14.09.26, 20:13:00] Anna B.: ok\n[14.09.26, 20:13:00] Anna B.: ok\n",
		"year is first": "2026-09-03, 08:12 - Ben: I live in Ghent\n2026-09-14, 08:12 - Ben: two\nlines: here\n2026-09-14, 20:13 - Anna B.: ok\n2026-09-14, 20:13 - Anna B.: ok\n",
	} {
		r := readWith(t, WhatsApp, text, o)
		if got := lines(r); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q; %v", name, got, want, r.Skipped)
		}
		if r.Adds[2].Key == r.Adds[3].Key {
			t.Errorf("%s: one key for two messages", name)
		}
	}
	const unclear = "03/04/2026, 08:12 - Ben: x\n"
	for order, month := range map[string]time.Month{"dmy": time.April, "mdy": time.March} {
		if r := readWith(t, WhatsApp, unclear, Options{Dates: order}); r.Adds[0].At.Month() != month {
			t.Errorf("%s: %s", order, r.Adds[0].At)
		}
	}
	if _, err := Read(t.Context(), WhatsApp, "file", strings.NewReader(unclear), Options{}); err == nil || !strings.Contains(err.Error(), "dmy or mdy") {
		t.Error(err)
	}
}

func TestTelegram(t *testing.T) {
	const chat = `"name": "Ben", "type": "personal_chat", "id": 7, "messages": [
		{"id": 1, "type": "service", "text": ""},
		{"id": 2, "type": "message", "date": "2026-09-14T08:12:33", "date_unixtime": "1789366353", "from": "Ben", "from_id": "user9", "text": ["I live in ", {"type": "bold", "text": "Ghent"}]},
		{"id": 3, "type": "message", "date": "2026-09-14T08:13:00", "from": "Anna", "from_id": "user4", "text": "My dog is called Rex"},
		{"id": 4, "type": "message", "date": "2026-09-14T08:14:00", "from": "Ben", "text": "news", "forwarded_from": "Channel"}]`
	one := readWith(t, Telegram, "{"+chat+"}", Options{})
	if got := lines(one); !slices.Equal(got, []string{"0914 06:12:33 Ben: I live in Ghent", "0914 08:13:00 Anna: My dog is called Rex"}) || len(one.Skipped) != 1 {
		t.Errorf("%q, %v", got, one.Skipped)
	}
	all := readWith(t, Telegram, `{"personal_information": {"user_id": 4, "first_name": "Anna"}, "chats": {"list": [{`+chat+`}]}}`, Options{})
	if got := lines(all); len(got) != 2 || !strings.HasPrefix(got[1], "0914 08:13:00 : ") {
		t.Errorf("%q", got)
	}
	if all.Adds[0].Key != one.Adds[0].Key || all.Adds[0].Metadata["telegram_chat"] != "Ben" {
		t.Error("the same message has two keys")
	}
}

func TestMbox(t *testing.T) {
	r := readWith(t, Mbox, strings.ReplaceAll(`From ana@example.org Mon Sep 14 08:00:00 2026
From: =?utf-8?Q?Ana_L=C3=B3pez?= <ana@example.org>
To: anna@example.org
Subject: =?iso-8859-1?Q?Caf=E9?=
Date: Mon, 14 Sep 2026 10:00:00 +0200
Message-Id: <1@example.org>
Content-Type: multipart/mixed; boundary=a

--a
Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/html

<p>no</p>
--b
Content-Type: text/plain; charset=windows-1252
Content-Transfer-Encoding: base64

`+base64.StdEncoding.EncodeToString([]byte("Meet at the caf\xe9 \x96 noon\n> what you said\n"))+`
--b--
--a
Content-Type: text/plain
Content-Disposition: attachment; filename=x.txt

an attachment
--a--

From ben@example.org Mon Sep 14 09:00:00 2026
Subject: plain

First line
>From here on
From there, too

From eve@example.org Mon Sep 14 09:00:00 2026
Content-Type: text/html

<p>html alone</p>
`, "\n", "\r\n"), Options{})
	if len(r.Adds) != 2 || len(r.Skipped) != 1 {
		t.Fatalf("%+v", r)
	}
	a, b := r.Adds[0], r.Adds[1]
	if a.Text != "Café, from Ana López <ana@example.org>" || a.Fields.Resource.Content != "Meet at the café – noon" || a.Metadata["mail_to"] != "anna@example.org" || !a.At.Equal(time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %+v", a, a.Fields.Resource)
	}
	if b.Fields.Resource.Content != "First line\nFrom here on\nFrom there, too" || b.Type != memory.Resource {
		t.Errorf("%+v", b.Fields.Resource)
	}
	deep := "From x\nContent-Type: multipart/mixed; boundary=a\n\n" + strings.Repeat("--a\nContent-Type: multipart/mixed; boundary=a\n\n", 100)
	if r := readWith(t, Mbox, deep, Options{}); len(r.Adds) != 0 || len(r.Skipped) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestLocations(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	const old = `{"timelineObjects": [{"activitySegment": {}}, {"placeVisit": {"location": {"latitudeE7": 1, "placeId": "p1", "name": "Café Zoë", "address": "Rue A 5\n1000 Brussels"},
		"duration": {"startTimestamp": "2020-09-14T08:00:00.000Z", "endTimestamp": "2020-09-14T09:30:00Z"}}}, {"placeVisit": {"location": {}}}]}`
	for text, want := range map[string]string{
		old: "Was at Café Zoë, Rue A 5 1000 Brussels, 2020-09-14 10:00 to 11:30",
		`{"semanticSegments": [{"startTime": "2025-09-14T23:00:00.000+02:00", "endTime": "2025-09-15T07:00:00.000+02:00", "visit": {"topCandidate": {"placeId": "p2", "semanticType": "HOME", "placeLocation": {"latLng": "50.1°, 4.2°"}}}},
			{"startTime": "2025-09-15T07:00:00Z", "timelinePath": []}, {"visit": {"topCandidate": {}}}]}`: "Was at home, 2025-09-14 23:00 to 2025-09-15 07:00",
		`[{"startTime": "2025-09-14T08:00:00Z", "endTime": "2025-09-14T09:00:00Z", "visit": {"topCandidate": {"semanticType": "Unknown", "placeID": "p3", "placeLocation": "geo:50.1,4.2"}}}, {"visit": {"topCandidate": {}}}]`: "Was at 50.1,4.2, 2025-09-14 10:00 to 11:00",
	} {
		r := readWith(t, Locations, text, Options{Zone: zone})
		if len(r.Adds) != 1 || len(r.Skipped) != 1 {
			t.Fatalf("%s: %+v", text, r)
		}
		a := r.Adds[0]
		if f := a.Fields.Episodic; a.Text != want || a.Type != memory.Episodic || f.Started.IsZero() || !f.Ended.After(f.Started) || *a.Sensitivity != memory.Private || a.Metadata["google_place"] == "" {
			t.Errorf("%+v, %+v", a, f)
		}
	}
	r, err := ReadFolder(t.Context(), Locations, fstest.MapFS{"2020/2020_SEPTEMBER.json": {Data: []byte(old)}, "2020/x.txt": {}}, Options{})
	if err != nil || len(r.Adds) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := ReadFolder(t.Context(), Mbox, fstest.MapFS{}, Options{}); err == nil || !strings.Contains(err.Error(), "wants a file") {
		t.Error(err)
	}
}

// A file that is cut off at any position gives an error or less content, but never a
// panic.
func TestCutOff(t *testing.T) {
	for f, text := range map[Format]string{
		Claude:    `[{"chat_messages": [{"sender": "human", "text": "a", "content": [{"type": "text", "text": "b"}]}]}]`,
		WhatsApp:  "[14.09.26, 08:12:33] Ben: words\n[15.09.26, 08:12:33] Ben: words\n",
		Telegram:  `{"chats": {"list": [{"messages": [{"type": "message", "text": ["a", {"text": "b"}]}]}]}}`,
		Mbox:      "From x\nContent-Type: multipart/mixed; boundary=a\n\n--a\nContent-Transfer-Encoding: base64\n\nYWJj\n--a--\n\nFrom y\n\nz\n",
		Locations: `{"semanticSegments": [{"startTime": "2025-09-14T08:00:00Z", "endTime": "2025-09-14T09:00:00Z", "visit": {"topCandidate": {"placeLocation": {"latLng": "1, 2"}}}}]}`,
	} {
		whole := len(readWith(t, f, text, Options{}).Adds)
		if whole == 0 {
			t.Errorf("%s: nothing of the whole", f)
		}
		for n := range len(text) {
			if r, err := Read(t.Context(), f, "file", strings.NewReader(text[:n]), Options{}); err == nil && len(r.Adds) > whole {
				t.Errorf("%s: more of a part", f)
			}
		}
	}
}
