package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// node-ical from npm reads the calendar by its address: what was said becomes events,
// tasks and days of each year.
func TestCalendar(t *testing.T) {
	npm(t, "node-ical/package.json")
	h := newHome(t)
	address := h.overTCP()
	h.start()
	for _, line := range []string{"I have a dentist appointment on 20 October 2031 at 10:00.", "I promised to send the form to Tom.", "My birthday is on 3 March.", "The kettle is blue."} {
		h.must("add", line)
	}
	key := strings.TrimSpace(h.must("app", "add", "calendar", "--can", "read", "--types", "episodic,semantic"))
	url := "http://" + address + "/k/" + key + "/calendar.ics"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "calendar.cjs", url)
	cmd.Dir = "clients"
	cmd.Env = append(os.Environ(), "TZ=America/New_York")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var e struct{ Type, Summary string }
		mustParse(t, line, &e)
		got[e.Type+" "+strings.Join(strings.Fields(e.Summary), " ")] += line
	}
	find := func(kind string, words ...string) {
		t.Helper()
		for name, line := range got {
			if !strings.HasPrefix(name, kind) {
				continue
			}
			all := true
			for _, w := range words {
				all = all && strings.Contains(line, w)
			}
			if all {
				return
			}
		}
		t.Errorf("no %s with %q in\n%s", kind, words, out)
	}
	find("VEVENT", "dentist", `"start":"2031-10-20T09:00:00.000Z"`, `"zone":"Europe/Lisbon"`, `"alarms":1`)
	find("VEVENT", "birthday", `"days":"date"`, `"yearly":true`)
	find("VTODO", "form")
	if strings.Contains(string(out), "kettle") {
		t.Errorf("%s", out)
	}
	if log := h.must("app", "log", "calendar"); !strings.Contains(log, "listed, and was shown") {
		t.Error(log)
	}
	h.must("app", "revoke", "calendar")
	if status, body := curl(t, url); status != "401" {
		t.Errorf("%s %s", status, body)
	}
}
