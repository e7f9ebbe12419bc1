// Package arch checks the import rules of the repository.
package arch

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/locket-dev/locket/"

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
}

// load lists the packages of every module in the repository.
func load(t *testing.T) []pkg {
	t.Helper()
	var pkgs []pkg
	for _, dir := range modules(t) {
		cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Deps,Standard", "./...")
		cmd.Dir = filepath.Join(root, dir)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list in %s: %v", dir, err)
		}
		before := len(pkgs)
		for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
			var p pkg
			if err := dec.Decode(&p); err != nil {
				t.Fatal(err)
			}
			p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
			pkgs = append(pkgs, p)
		}
		if len(pkgs) == before {
			t.Fatalf("go list found no packages in %s", dir)
		}
	}
	return pkgs
}

func under(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// Each third-party library is imported in one place, and so are the implementations behind some of
// our packages. D-Bus has two: for devices, and for the network.
func TestOneImporterEach(t *testing.T) {
	owners := map[string]string{
		"github.com/dgraph-io/badger":            "memory/store",
		"github.com/dgraph-io/ristretto":         "memory/store",
		module + "memory/store/badgerfile":       "memory/store",
		"github.com/tetratelabs/wazero":          "wasm",
		"github.com/eclipse/paho":                "node/intake",
		"github.com/mochi-mqtt":                  "node/intake",
		"github.com/cloudwego/hertz":             "cloud/api",
		"modernc.org/sqlite":                     "cloud", // for the relay, and for the worker's jobs
		"github.com/riverqueue":                  "cloud/worker/queue",
		"github.com/jackc/pgx":                   "cloud", // see TestPostgresForServersAlone
		"github.com/pressly/goose":               "cloud/relay/migrate",
		"github.com/nats-io":                     "cloud/relay/natswake",
		"gocloud.dev":                            "cloud/bucket",
		"filippo.io/age":                         "crypto",
		"github.com/cloudflare/circl":            "crypto/intersect",
		"github.com/godbus/dbus":                 "firmware-bridge/link internal/metered",
		"github.com/gorilla/websocket":           "firmware-bridge/link",
		"github.com/jezek/xgb":                   "firmware-bridge/link",
		"github.com/mewkiz/flac":                 "firmware-bridge/carry/files",
		"github.com/muktihari/fit":               "firmware-bridge/frame/fit",
		"github.com/spf13/cobra":                 "cmd",
		"github.com/zalando/go-keyring":          "crypto/keyring",
		"oras.land/oras-go":                      "wasm/source",
		"github.com/google/go-containerregistry": "", // a registry in tests, and release images
		"github.com/coreos/go-systemd":           "cmd/locket/runcmd",
		"github.com/KimMachineGun/automemlimit":  "node",
		"github.com/goreleaser/nfpm":             "cmd/locket-release",
		"github.com/tyler-smith/go-bip39":        "", // for tests
		"github.com/pelletier/go-toml":           "", // files are read in the package to which they belong
		"github.com/blevesearch/bleve":           "cmd/locket-bench",
		"github.com/philippgille/chromem-go":     "cmd/locket-bench",
		"github.com/extism/go-sdk":               "cmd/locket-bench",
		"github.com/knights-analytics/hugot":     "cmd/locket-model",
		"github.com/modelcontextprotocol":        "node/mcp",
		"github.com/hashicorp/mdns":              "node/lan",
		"github.com/miekg/dns":                   "node/lan",
		"github.com/hanwen/go-fuse":              "internal/testing/powerloss",
		"github.com/chromedp":                    "e2e/console",
	}
	for _, p := range load(t) {
		for _, imp := range p.Imports {
			for lib, owner := range owners {
				if strings.HasPrefix(imp, lib) && owner != "" && !slices.ContainsFunc(strings.Fields(owner+" cmd/locket-bench"), func(o string) bool { return under(p.ImportPath, o) }) {
					t.Errorf("%s imports %s, which only %s may", p.ImportPath, imp, owner)
				}
			}
		}
	}
}

// Imports point one way. This lists which of our packages each place may import, in addition to
// those below it. A name ending in /... stands for everything below it. cmd, e2e and testdata are
// at the top, and may import anything.
var may = map[string][]string{
	"memory":                          {"internal/hans"},
	"memory/reconcile":                {"memory", "internal/hans"},
	"memory/names":                    {"internal/hans"},
	"memory/graph":                    {"memory/names"},
	"memory/recall":                   {"memory", "memory/names", "memory/graph", "internal/calendar", "internal/feast", "internal/hans"},
	"memory/retrieve":                 {"memory", "internal/hans", "memory/recall"},
	"memory/filter":                   {"memory"},
	"memory/atlas":                    {"memory", "memory/graph", "memory/names", "memory/recall"},
	"memory/judge":                    {"memory", "internal/hans", "memory/reconcile", "memory/recall"},
	"memory/dense":                    {"memory"},
	"memory/category":                 {"memory", "internal/hans"},
	"memory/store":                    {"memory", "internal/hans", "crypto/seal", "crypto/length", "internal/filelock", "internal/diskspace", "internal/atomicfile", "internal/progress", "internal/wait"},
	"memory/tier":                     {"memory"},
	"memory/engine":                   {"memory", "memory/graph", "memory/recall", "memory/reconcile", "memory/store", "internal/span"},
	"crypto/length":                   {},
	"crypto/seal":                     {"internal/lockedmem", "crypto/length"},
	"crypto/publisher":                {"internal/atomicfile"},
	"crypto/intersect":                {},
	"crypto/keyring":                  {"memory", "crypto/seal", "internal/atomicfile"},
	"wasm":                            {"internal/atomicfile", "internal/diskspace", "internal/jail"},
	"wasm/plugins":                    {"internal/calendar", "internal/feast", "internal/hans", "internal/lower", "internal/progress", "wasm", "wasm/abi", "wasm/guest"},
	"wasm/source":                     {"wasm/bundle", "wasm/trust", "internal/clientaddr"},
	"sync/canonical":                  {},
	"sync/envelope":                   {"memory", "sync/canonical"},
	"sync/claim":                      {},
	"sync/membership":                 {"memory", "crypto/keyring", "crypto/seal", "sync/envelope"},
	"sync/httpsig":                    {},
	"sync/translog":                   {"sync/canonical", "internal/retry"},
	"sync/delta":                      {"memory", "memory/reconcile", "sync/canonical", "sync/envelope", "crypto/length"},
	"sync/replica":                    {"memory/...", "crypto/...", "sync/...", "internal/wait", "internal/retry", "internal/span"},
	"sync/envstore":                   {"memory", "sync/envelope", "sync/replica", "internal/atomicfile"},
	"sync/peer":                       {"memory", "sync/envelope", "sync/httpsig", "sync/remote/page", "sync/replica", "sync/envstore"},
	"sync/pairing":                    {"memory", "crypto/...", "sync/..."},
	"sync/remote":                     {"memory", "sync/canonical", "sync/envelope", "sync/httpsig", "sync/replica", "sync/trade", "internal/clientaddr", "internal/dialfault", "internal/retry"},
	"node/archive":                    {"memory", "memory/reconcile", "crypto/keyring"},
	"node/backup":                     {"memory", "crypto/seal", "internal/atomicfile", "internal/filelock", "internal/retry", "internal/wait", "node/archive"},
	"node/foreign":                    {"memory", "node/serve", "internal/clientaddr", "internal/retry", "internal/wait"},
	"node/serve":                      {"memory/...", "sync/trade", "node/archive", "node/config", "node/zones", "node/intake/wire", "wasm/trust", "docs", "internal/applink", "internal/clientaddr", "internal/span"},
	"node/opened":                     {"memory", "memory/store", "internal/span"},
	"node/transfer":                   {"memory", "memory/store", "crypto/keyring", "node/archive", "node/cold", "node/foreign", "node/opened", "node/serve", "sync/envelope", "sync/replica", "internal/wait"},
	"node/query":                      {"memory", "internal/hans", "memory/atlas", "memory/category", "memory/consolidate", "memory/engine", "memory/filter", "memory/names", "memory/recall", "memory/reconcile", "memory/retrieve", "memory/store", "internal/llm", "internal/lower", "internal/wait", "node/answer", "node/config", "node/extract", "node/forget", "node/opened", "node/serve", "node/given", "internal/span"},
	"node/community":                  {"memory", "memory/engine", "memory/reconcile", "memory/store", "crypto/keyring", "crypto/seal", "internal/atomicfile", "node/serve", "node/share", "sync/..."},
	"node/given":                      {"memory", "memory/engine", "memory/recall", "internal/wait", "node/serve", "node/share"},
	"node/policy":                     {"memory"},
	"node/policy/rulebook":            {"memory", "memory/engine", "memory/store", "node/opened", "node/policy", "node/policy/consent", "node/serve"},
	"node/policy/consent":             {"memory", "memory/engine", "memory/store", "node/config", "node/opened", "node/policy", "node/serve"},
	"node/edit":                       {"memory", "memory/category", "memory/engine", "memory/reconcile", "memory/store", "node/config", "node/extract", "node/opened", "node/serve"},
	"node/match":                      {"memory", "crypto/intersect", "crypto/keyring", "crypto/seal", "internal/atomicfile", "internal/filelock", "internal/wait", "node/opened", "node/serve", "node/share", "sync/canonical", "sync/envelope"},
	"node/exchange":                   {"memory", "memory/store", "crypto/keyring", "crypto/seal", "internal/wait", "node/cold", "node/config", "node/extract", "node/lan", "node/opened", "node/remotes", "node/serve", "sync/...", "internal/span"},
	"node/plugins":                    {"memory", "memory/engine", "memory/store", "crypto/seal", "wasm", "wasm/abi", "wasm/plugins", "wasm/trust", "internal/progress", "node/extract", "node/installed", "node/opened", "node/serve"},
	"internal/metered":                {},
	"internal/accept":                 {"internal/retry"},
	"node":                            {"memory/...", "crypto/...", "wasm/...", "sync/...", "internal/...", "docs"},
	"cloud/relay":                     {"memory", "sync/envelope", "sync/httpsig", "internal/retry", "internal/filelock", "internal/atomicfile"},
	"cloud/bucket":                    {"cloud/relay/objects"},
	"cloud/market":                    {"sync/...", "memory", "cloud/relay/migrate", "cloud/relay/pgtest", "internal/filelock", "internal/wait", "internal/clientaddr", "internal/turns"},
	"cloud/api":                       {"memory", "cloud/market/...", "cloud/relay", "sync/envelope", "sync/httpsig", "sync/remote/page", "sync/trade", "internal/accept", "internal/clientaddr", "internal/turns"},
	"cloud/worker":                    {"memory/...", "crypto/...", "wasm/...", "sync/...", "internal/..."},
	"internal/span":                   {},
	"internal/cutoff":                 {},
	"internal/otlp":                   {"internal/retry", "internal/span", "internal/wait", "internal/testing/collector"},
	"internal/dialfault":              {},
	"internal/llm":                    {"internal/cutoff", "internal/dialfault", "internal/retry", "internal/span"},
	"internal/voiceprint":             {},
	"firmware-bridge":                 {"memory", "node/intake/wire", "node/intake/wear", "internal/media", "internal/atomicfile", "internal/retry", "internal/wait", "node/intake"},
	"firmware-bridge/carry/files":     {"firmware-bridge/...", "memory", "node/intake/wire", "node/intake/wear", "internal/media", "internal/wait", "internal/engine", "internal/engine/sight"},
	"firmware-bridge/assist":          {"firmware-bridge/frame/wyoming", "internal/accept", "internal/applink", "internal/clientaddr", "node/answer"},
	"firmware-bridge/spool":           {"memory", "crypto/seal", "internal/atomicfile", "internal/filelock"},
	"sync/journal":                    {"memory/...", "crypto/...", "sync/..."},
	"internal/testing":                {"internal/...", "memory/...", "node/...", "sync/...", "crypto/...", "wasm/...", "cloud/...", "testdata/..."},
	"internal":                        {"memory/...", "node/...", "sync/...", "crypto/...", "wasm/...", "cloud/...", "testdata/..."},
	"firmware-bridge/link/linktest":   {"internal/testing/freeport"},
	"firmware-bridge/carry/carrytest": {"firmware-bridge/...", "crypto/seal", "memory", "memory/store/journal", "node/intake", "node/intake/wear", "node/intake/wire"},
	"internal/engine":                 {"memory", "internal/cutoff", "internal/dialfault", "internal/jail", "internal/llm", "internal/retry", "testdata/day"},
	"node/forget":                     {"memory", "internal/hans", "memory/engine", "memory/recall", "memory/store", "node/cold", "node/config", "node/dream", "node/extract", "node/opened", "node/retention", "node/serve"},
	"node/accept":                     {"memory", "memory/engine", "memory/store", "node/extract", "node/forget"},
	"node/sharing":                    {"memory", "memory/engine", "memory/recall", "memory/store", "crypto/keyring", "crypto/seal", "internal/wait", "node/cold", "node/community", "node/config", "node/dream", "node/exchange", "node/opened", "node/policy", "node/policy/consent", "node/policy/rulebook", "node/revert", "node/serve", "node/share", "sync/..."},
	"node/tiers":                      {"memory", "memory/engine", "memory/recall", "memory/store", "memory/tier", "node/cold", "node/config", "node/exchange", "node/opened", "node/query", "node/retention", "node/serve", "sync/delta", "sync/envelope", "sync/replica"},
	"node/console":                    {"internal/applink", "node/serve"},
	"node/recorder":                   {},
	"node/questions":                  {"memory", "internal/hans", "memory/filter", "node/answer", "node/serve"},
	"node/notes":                      {"memory", "memory/atlas", "memory/names", "internal/wait", "node/serve"},
	"node/calendar":                   {"memory", "internal/hans", "memory/filter", "node/serve"},
	"node/intake/homeassistant":       {"memory", "internal/retry", "internal/wait", "node/serve"},
	"node/hooks":                      {"memory", "internal/wait", "node/apps", "node/serve"},
	"node/proxy":                      {"memory", "memory/retrieve", "node/serve"},
	"node/oauth":                      {"memory", "node/serve", "internal/clientaddr"},
	"node/door":                       {"internal/applink", "internal/atomicfile", "node/lan", "node/serve"},
	"node/models":                     {"memory", "memory/category", "memory/engine", "memory/recall", "memory/store", "internal/llm", "node/config", "node/distill", "node/meaning", "node/opened", "node/serve"},
	"node/health":                     {"memory", "memory/engine", "memory/recall", "memory/store", "crypto/keyring", "internal/atomicfile", "internal/engine", "internal/lockedmem", "node/cold", "node/config", "node/engines", "node/exchange", "node/installed", "node/opened", "node/repair", "node/serve", "sync/envelope", "sync/journal", "sync/replica"},
	"node/voices":                     {"memory", "memory/engine", "memory/store", "internal/sorting", "internal/voiceprint", "node/extract", "node/extract/sound", "node/opened", "node/serve"},
	"node/enginehost":                 {"memory", "memory/engine", "memory/store", "internal/engine", "internal/engine/result", "node/accept", "node/config", "node/engines", "node/extract", "node/models", "node/opened", "node/serve"},
	"node/pump":                       {"internal/atomicfile", "memory", "memory/engine", "memory/store", "memory/store/journal", "crypto/seal", "internal/retry", "internal/wait", "node/extract", "node/forget", "node/intake", "node/intake/wire"},
	"node/vault":                      {"memory", "memory/engine", "memory/store", "crypto/keyring", "crypto/seal", "node/opened", "node/serve"},
	"node/wearables":                  {"memory", "memory/store", "crypto/keyring", "node/config", "node/intake", "node/intake/wire", "node/lan", "node/serve", "node/statefile"},
	"node/statefile":                  {"crypto/keyring", "crypto/seal", "internal/atomicfile", "memory"},

	"memory/store/badgerfile": {},

	"wasm/plugins/internal/rules/syntax":    {"internal/calendar", "internal/lower"},
	"wasm/plugins/internal/rules/timex":     {"internal/calendar", "internal/feast", "wasm/plugins/internal/rules/syntax"},
	"wasm/plugins/internal/rules/discourse": {"internal/feast", "wasm/abi", "wasm/plugins/internal/rules/syntax", "wasm/plugins/internal/rules/timex"},
	"wasm/plugins/internal/rules/refuse":    {"wasm/abi", "wasm/plugins/internal/rules/syntax", "wasm/plugins/internal/rules/timex", "wasm/plugins/internal/rules/discourse"},
	"wasm/plugins/internal/rules/noted":     {"wasm/abi", "wasm/plugins/internal/rules/syntax", "wasm/plugins/internal/rules/timex", "wasm/plugins/internal/rules/discourse", "wasm/plugins/internal/rules/refuse"},
	"wasm/plugins/internal/rules/chinese":   {"internal/calendar", "internal/feast", "wasm/abi", "wasm/plugins/internal/rules/syntax", "wasm/plugins/internal/rules/timex", "wasm/plugins/internal/rules/discourse", "wasm/plugins/internal/rules/refuse", "wasm/plugins/internal/rules/noted"},
	"wasm/plugins/internal/rules/english":   {"internal/calendar", "wasm/abi", "wasm/plugins/internal/rules/syntax", "wasm/plugins/internal/rules/timex", "wasm/plugins/internal/rules/discourse", "wasm/plugins/internal/rules/refuse", "wasm/plugins/internal/rules/noted"},
	"wasm/plugins/internal/rules/howto":     {"wasm/abi", "wasm/plugins/internal/rules/syntax", "wasm/plugins/internal/rules/timex", "wasm/plugins/internal/rules/discourse", "wasm/plugins/internal/rules/refuse", "wasm/plugins/internal/rules/noted"},
	"wasm/plugins/internal/rules/ellipsis":  {"wasm/abi", "wasm/plugins/internal/rules/syntax", "wasm/plugins/internal/rules/timex", "wasm/plugins/internal/rules/discourse", "wasm/plugins/internal/rules/refuse", "wasm/plugins/internal/rules/noted", "wasm/plugins/internal/rules/chinese", "wasm/plugins/internal/rules/english"},

	"node/market":          {"memory", "memory/engine", "memory/recall", "memory/store", "crypto/keyring", "crypto/seal", "internal/atomicfile", "internal/filelock", "internal/wait", "node/opened", "node/serve", "node/share", "sync/..."},
	"sync/trade":           {"sync/canonical", "sync/envelope"},
	"sync/trade/car":       {},
	"sync/trade/mark":      {},
	"sync/trade/bundle":    {"memory", "crypto/length", "crypto/seal", "sync/trade", "sync/trade/mark"},
	"sync/trade/tradetest": {"memory", "crypto/seal", "sync/trade", "sync/trade/bundle"},
}

func TestDirection(t *testing.T) {
	for _, p := range load(t) {
		place := ""
		for dir := range may {
			if under(p.ImportPath, dir) && len(dir) > len(place) {
				place = dir
			}
		}
		if place == "" {
			if top, _, _ := strings.Cut(p.ImportPath, "/"); top != "cmd" && top != "e2e" && top != "testdata" && top != "docs" {
				t.Errorf("%s: this test does not say what it may import", p.ImportPath)
			}
			continue
		}
		for _, imp := range p.Imports {
			of, ours := strings.CutPrefix(imp, module)
			if !ours {
				if place == "memory" && strings.Contains(strings.Split(imp, "/")[0], ".") {
					t.Errorf("%s imports %s: the domain has the standard library alone", p.ImportPath, imp)
				}
				continue
			}
			if of != "internal/sorting" && !under(of, place) && !allows(may[place], of) { // it replaces the standard library's slices
				t.Errorf("%s imports %s", p.ImportPath, of)
			}
		}
	}
}

func allows(list []string, of string) bool {
	for _, l := range list {
		if dir, all := strings.CutSuffix(l, "/..."); of == l || all && under(of, dir) {
			return true
		}
	}
	return false
}

// Code that only tests and demos need is not part of a product.
func TestProductsHaveNoTestingCode(t *testing.T) {
	tests := func(path string) bool {
		return under(path, "internal/testing") || path == "firmware-bridge/link/linktest"
	}
	for _, p := range load(t) {
		if tests(p.ImportPath) || under(p.ImportPath, "cmd/locket-demo") || under(p.ImportPath, "cmd/locket-bench") {
			continue
		}
		for _, imp := range p.Imports {
			if of, ours := strings.CutPrefix(imp, module); ours && tests(of) {
				t.Errorf("%s imports %s", p.ImportPath, of)
			}
		}
	}
}

// The blind part of the cloud does not depend on decryption code, not even indirectly.
func TestRelayIsBlind(t *testing.T) {
	for _, p := range load(t) {
		if !under(p.ImportPath, "cloud/relay") && !under(p.ImportPath, "cloud/market") && !under(p.ImportPath, "cloud/api") {
			continue
		}
		for _, dep := range p.Deps {
			of := strings.TrimPrefix(dep, module)
			if strings.HasPrefix(of, "crypto/") && strings.HasPrefix(dep, module) || strings.HasPrefix(dep, "filippo.io/age") ||
				strings.HasPrefix(dep, "golang.org/x/crypto/chacha20poly1305") && !strings.HasPrefix(dep, "vendor/") {
				t.Errorf("%s reaches %s", p.ImportPath, dep)
			}
		}
	}
}

// Only servers have a PostgreSQL client: where SQLite is used, none is compiled. (River compiles a
// part of it, for a helper of its tests.)
func TestPostgresForServersAlone(t *testing.T) {
	for _, p := range load(t) {
		for _, imp := range p.Imports {
			of, ours := strings.CutPrefix(imp, module)
			client := strings.HasPrefix(imp, "github.com/jackc/pgx") || strings.HasSuffix(imp, "/riverpgxv5")
			if client && !under(p.ImportPath, "cloud/relay/postgres") && !under(p.ImportPath, "cloud/relay/pgtest") && !under(p.ImportPath, "cloud/market/postgres") &&
				!under(p.ImportPath, "cloud/worker/queue/postgres") && !under(p.ImportPath, "cmd/locket-bench") {
				t.Errorf("%s imports %s", p.ImportPath, imp)
			}
			if ours && (of == "cloud/relay/postgres" || of == "cloud/worker/queue/postgres" || of == "cloud/market/postgres" && p.ImportPath != "cloud/market/tabletest") &&
				!under(p.ImportPath, "cmd/locket-cloud") && !under(p.ImportPath, "cmd/locket-bench") {
				t.Errorf("%s imports %s, which only locket-cloud may", p.ImportPath, of)
			}
		}
	}
}

// Only what is above the commands and the node's assembly imports them.
func TestLayersImportDownwards(t *testing.T) {
	for _, p := range load(t) {
		for _, imp := range p.Imports {
			of := strings.TrimPrefix(imp, module)
			if of != imp && (under(of, "cmd") && !under(p.ImportPath, "cmd") || under(of, "cloud") && under(p.ImportPath, "node") || under(of, "node") && under(p.ImportPath, "cloud")) {
				t.Errorf("%s imports %s", p.ImportPath, of)
			}
		}
	}
}

// Commands of locket of one kind do not import those of another: shared code is in cli, which knows
// no command.
func TestCommandsApart(t *testing.T) {
	const locket = "cmd/locket/"
	found := 0
	for _, p := range load(t) {
		from, ours := strings.CutPrefix(p.ImportPath, locket)
		if !ours {
			continue
		}
		found++
		for _, imp := range p.Imports {
			of, ours := strings.CutPrefix(imp, module+locket)
			if ours && (from == "cli" || of != "cli") {
				t.Errorf("%s imports %s", p.ImportPath, of)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d packages are looked at", found)
	}
}

// Only the engine numbers what a member says, except for what an import repeats under numbers that
// it has to know before.
func TestOnlyTheEngineAssignsDots(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		if under(dir, "memory/store") || under(dir, "memory/engine") || under(dir, "internal/testing") || under(dir, "cmd/locket-bench") || name == filepath.Join("node", "transfer", "importing.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), ".NextDot(") {
			t.Errorf("%s numbers what it says itself: use engine.Engine.AssertTx", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
