package delta

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	told := ReportContent{At: time.Unix(1e9, 0).UTC(), Work: []Work{{Kind: "read", Engine: "tesseract", Waiting: 2, Done: 1, Parked: 3, Reasons: []Reason{{"broken", 3}}}},
		Spent: Spent{Tokens: 7}, Reads: []Read{{At: time.Unix(9e8, 0).UTC(), Kind: "read", Subject: "x", Engine: "tesseract", To: "localhost:80"}}}
	r, err := NewReport(3, told)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.Content(); err != nil || fmt.Sprint(again) != fmt.Sprint(told) {
		t.Errorf("%+v, %v", again, err)
	}
	if v, why := Accept(&Op{Report: r}, workerID, Grant{}, nil); v != Accepted {
		t.Error(v, why)
	}
	long := strings.Repeat("x", 513)
	for name, bad := range map[string]Report{
		"no number":       {Text: "{}"},
		"no text":         {Number: 1},
		"too long":        {Number: 1, Text: `{"x":"` + strings.Repeat("x", MaxReport) + `"}`},
		"not UTF-8":       {Number: 1, Text: "{\"x\":\"\xff\"}"},
		"not JSON":        {Number: 1, Text: "{"},
		"another type":    {Number: 1, Text: `{"work":5}`},
		"negative":        {Number: 1, Text: `{"work":[{"kind":"read","done":-1}]}`},
		"negative cost":   {Number: 1, Text: `{"spent":{"tokens":-1}}`},
		"a long kind":     {Number: 1, Text: `{"work":[{"kind":"` + long + `"}]}`},
		"a long reason":   {Number: 1, Text: `{"work":[{"reasons":[{"reason":"` + long + `"}]}]}`},
		"a long subject":  {Number: 1, Text: `{"reads":[{"subject":"` + long + `"}]}`},
		"too many ids":    {Number: 1, Text: `{"reads":[{"of":[` + strings.Join(slices.Repeat([]string{`"a"`}, MaxOf+1), ",") + `]}]}`},
		"a long id":       {Number: 1, Text: `{"reads":[{"of":["` + strings.Repeat("a", maxTold+1) + `"]}]}`},
		"too many reads":  {Number: 1, Text: `{"reads":[` + strings.Join(slices.Repeat([]string{"{}"}, MaxReads+1), ",") + `]}`},
		"too many kinds":  {Number: 1, Text: `{"work":[` + strings.Join(slices.Repeat([]string{"{}"}, maxWork+1), ",") + `]}`},
		"too many causes": {Number: 1, Text: `{"work":[{"reasons":[` + strings.Join(slices.Repeat([]string{"{}"}, MaxReasons+1), ",") + `]}]}`},
	} {
		if _, err := bad.Content(); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
		if v, _ := Accept(&Op{Report: &bad}, workerID, Grant{}, nil); v != Refused {
			t.Errorf("%s: %s", name, v)
		}
	}
}
