package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mem0's client from npm, unmodified: each method that docs/clients.md claims, and some that it
// does not.
func TestMem0Client(t *testing.T) {
	npm(t, "mem0ai/package.json")
	h := newHome(t)
	address := h.overTCP()
	h.start()
	h.must("add", "--plain", "Ana's own kayak is yellow")
	key := strings.TrimSpace(h.must("app", "add", "mem0", "--can", "read,add,update,forget", "--types", "semantic,episodic", "--requests", "1000"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "mem0.cjs", "http://"+address+"/mem0", key)
	cmd.Dir = "clients"
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "MEM0_TELEMETRY=false")
	var errb bytes.Buffer
	cmd.Stderr = &errb
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errb.String())
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var step struct {
			Name, Error, Kind string
			Value             json.RawMessage
		}
		mustParse(t, line, &step)
		got[step.Name] = string(step.Value)
		if step.Error != "" {
			got[step.Name] = step.Kind + ": " + step.Error
		}
	}
	for name, want := range map[string][]string{
		"ping":           {`"org":"locket"`},
		"add":            {`"eventId":"`, `"PENDING"`, `"memory":"The red kayak lies in Lindau"`, `"event":"ADD"`},
		"addInferred":    {`"eventId":"`, `"PENDING"`},
		"get":            {`"userId":"ann"`, `"projectName":"boats"`, `"depth":3`, `{"leftHand":true}`, `"createdAt":"`},
		"search":         {"Lindau", `"scoreBreakdown":{`, `"score":`, "!Bregenz", "!yellow"},
		"searchOr":       {"Lindau", "Bregenz", "!yellow"},
		"searchNot":      {"Lindau", "yellow", "!Bregenz"},
		"searchMetadata": {"Lindau", "!Bregenz"},
		"getAll":         {`"count":3`, `"next":"http`, `"previous":null`},
		"getAllSecond":   {`"count":3`, `"next":null`, `"previous":"http`},
		"update":         {"Friedrichshafen", `"camelCase":"stays"`, "!projectName"},
		"history":        {`"event":"ADD"`, `"newMemory":"The red kayak lies in Friedrichshafen"`},
		"batchUpdate":    {"Successfully updated 1 memories"},
		"users":          {`"name":"ann"`, `"name":"bob"`, `"name":"helper"`, `"type":"agent"`, `"totalMemories":`},
		"delete":         {"deleted"},
		"getGone":        {"MemoryNotFoundError"},
		"batchDelete":    {"Successfully deleted 1 memories"},
		"deleteAll":      {"deleted"},
		"deleteUsers":    {"Entity deleted"},
		"left":           {`"count":1`, "yellow"},
		"deleteNobody":   {"ValidationError: ", "name a user_id"},
		"unknownOption":  {"ValidationError: ", "custom_instructions"},
		"webhooks":       {"Error: ", "docs/clients.md"},
		"badFilter":      {"ValidationError: ", "filters.colour"},
	} {
		for _, w := range want {
			if not := strings.TrimPrefix(w, "!"); strings.Contains(got[name], not) == (not != w) {
				t.Errorf("%s: %s\nwant %s", name, got[name], w)
			}
		}
	}
	if log := h.must("app", "log", "mem0", "-n", "100"); !strings.Contains(log, "erased") || !strings.Contains(log, "searched") {
		t.Error(log)
	}
	if out := h.must("list"); !strings.Contains(out, "yellow") || strings.Contains(out, "Lindau") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "locket.sock")); err == nil {
		t.Error("a socket beside the TCP address")
	}
}
