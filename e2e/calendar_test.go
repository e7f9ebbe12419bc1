package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// node-ical from npm reads the calendar at its address: what was said becomes events, tasks and
// yearly days.
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

// vdirsyncer finds the calendar by CalDAV and copies it, and khal shows the copy. What was
// forgotten is gone with the next copy.
func TestCalDAV(t *testing.T) {
	for _, need := range []string{"vdirsyncer", "khal"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Fatalf("%v: .ci/needs installs it", err)
		}
	}
	h := newHome(t)
	address := h.overTCP()
	h.start()
	for _, line := range []string{"I have a dentist appointment on 20 October 2031 at 10:00.", "I promised to send the form to Tom.", "My birthday is on 3 March.", "The kettle is blue."} {
		h.must("add", line)
	}
	key := strings.TrimSpace(h.must("app", "add", "calendar", "--can", "read", "--types", "episodic,semantic", "--tokens", "1000000"))
	dir := t.TempDir()
	url := "http://" + address + "/k/" + key + "/caldav/"
	for name, text := range map[string]string{
		"vdirsyncer": "[general]\nstatus_path = \"DIR/status\"\n[pair all]\na = \"here\"\nb = \"locket\"\ncollections = [\"from b\"]\nconflict_resolution = \"b wins\"\n" +
			"[storage here]\ntype = \"filesystem\"\npath = \"DIR/calendars\"\nfileext = \".ics\"\n[storage locket]\ntype = \"caldav\"\nurl = \"" + url + "\"\nread_only = true\n",
		"khal": "[calendars]\n[[locket]]\npath = DIR/calendars/locket\nreadonly = True\n[locale]\nlocal_timezone = Europe/Lisbon\ndefault_timezone = Europe/Lisbon\ntimeformat = %H:%M\ndateformat = %Y-%m-%d\n" +
			"longdateformat = %Y-%m-%d\ndatetimeformat = %Y-%m-%d %H:%M\nlongdatetimeformat = %Y-%m-%d %H:%M\n[sqlite]\npath = DIR/khal.db\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "DIR", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(stdin string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8", "LANG=C.UTF-8")
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run(strings.Repeat("y\n", 10), "vdirsyncer", "-c", filepath.Join(dir, "vdirsyncer"), "discover")
	run("", "vdirsyncer", "-c", filepath.Join(dir, "vdirsyncer"), "sync")
	shown := run("", "khal", "-c", filepath.Join(dir, "khal"), "list", "2031-10-20", "2031-10-21")
	if !strings.Contains(shown, "10:00") || !strings.Contains(shown, "dentist") {
		t.Error(shown)
	}
	if shown = run("", "khal", "-c", filepath.Join(dir, "khal"), "list", "2032-03-03", "2032-03-04"); !strings.Contains(shown, "birthday") {
		t.Error(shown)
	}
	files, err := filepath.Glob(filepath.Join(dir, "calendars/locket/*.ics"))
	if err != nil || len(files) != 3 {
		t.Errorf("%q, %v", files, err)
	}
	h.must("forget", "--query", "dentist", "--yes")
	run("", "vdirsyncer", "-c", filepath.Join(dir, "vdirsyncer"), "sync")
	if shown = run("", "khal", "-c", filepath.Join(dir, "khal"), "list", "2031-10-20", "2031-10-21"); strings.Contains(shown, "dentist") {
		t.Error(shown)
	}
}
