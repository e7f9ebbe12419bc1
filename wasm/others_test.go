package wasm

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// The tests of WebAssembly's specification, in the form of wazero's module (wast2json), after
// rewriting: results are the same as without fuel, traps stay traps, and invalid modules are
// refused. A module that the rewriter refuses by design is skipped, with the commands that use it.
func TestSpecificationTests(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
	for version, features := range map[string]api.CoreFeatures{"v1": api.CoreFeaturesV1, "v2": api.CoreFeaturesV2} {
		t.Run(version, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dir, version, "testdata", "*.json"))
			if err != nil || len(files) < 70 {
				t.Fatalf("%d files, %v", len(files), err)
			}
			all := map[string]int{}
			for _, f := range files {
				s := specFile{t: t, name: f, dir: dir, features: features, count: all}
				s.play()
			}
			t.Log(all)
			if all["assert_return"] < 10_000 || all["assert_trap"] < 200 || all["assert_invalid"] < 800 {
				t.Errorf("too few: %v", all)
			}
		})
	}
}

// taken are invalid modules that are valid after rewriting: a function with loops may leave more on
// the stack than it returns, because a branch to its end follows; and the start function, which is
// exported, may be referenced.
var taken = func() map[string]bool {
	all := map[string]bool{"ref_func.5.wasm": true}
	for name, numbers := range map[string][]int{"loop": {5, 12, 17, 18, 26}, "unreached-invalid": {19, 29, 41, 54, 76, 102, 103}} {
		for _, n := range numbers {
			all[fmt.Sprintf("%s.%d.wasm", name, n)] = true
		}
	}
	return all
}()

// specCommand is a command in a file of wast2json.
type specCommand struct {
	Type, Name, Filename, As, Text string
	Line                           int
	ModuleType                     string `json:"module_type"`
	Action                         struct {
		Type, Module, Field string
		Args                []specValue
	}
	Expected []specValue
}

type specValue struct {
	Type  string
	Value json.RawMessage
}

// specFile runs the commands of one file.
type specFile struct {
	t        *testing.T
	name     string
	dir      string
	features api.CoreFeatures
	count    map[string]int // by kind of command; over all files

	runtime  wazero.Runtime
	last     api.Module            // nil: the rewriter refused it, or one that it imports
	named    map[string]api.Module // likewise
	loaded   []api.Module
	stale    bool // a call was skipped that may have changed the last module
	apart    bool // a module was skipped that would have changed what others see
	commands []specCommand
}

func (s *specFile) play() {
	b, err := os.ReadFile(s.name)
	var doc struct{ Commands []specCommand }
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	ctx := context.Background()
	s.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(s.features))
	defer s.runtime.Close(ctx)
	host, err := os.ReadFile(filepath.Join(s.dir, "testdata", "spectest.wasm"))
	if err == nil {
		_, err = s.runtime.InstantiateWithConfig(ctx, host, wazero.NewModuleConfig().WithName("spectest"))
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.named, s.commands = map[string]api.Module{}, doc.Commands
	for i := range s.commands {
		s.do(ctx, i)
	}
}

func (s *specFile) do(ctx context.Context, i int) {
	c := &s.commands[i]
	wrong := func(format string, args ...any) {
		s.t.Errorf("%s:%d: %s: %s", filepath.Base(s.name), c.Line, c.Type, fmt.Sprintf(format, args...))
	}
	did := c.Type
	switch c.Type {
	case "module":
		m, err := s.load(ctx, c.Filename, s.as(i), true)
		if leftOut(err) {
			did = "left out"
			s.apart = s.apart || !strings.Contains(err.Error(), `"spectest"`)
		} else if err != nil {
			wrong("%s: %v", c.Filename, err)
		}
		s.stale = false
		if s.last = m; c.Name != "" {
			s.named[c.Name] = m
		}
	case "assert_invalid", "assert_malformed", "assert_unlinkable", "assert_uninstantiable":
		if c.ModuleType == "text" {
			did = "text"
		} else if _, err := s.load(ctx, c.Filename, "", !strings.Contains(c.Text, "unknown memory")); err == nil {
			switch {
			case c.Type == "assert_uninstantiable" && c.Text == "out of bounds table access":
				did = "of wazero" // wazero keeps the module, so its functions can still be called
			case taken[c.Filename]:
				did = "taken"
			default:
				wrong("%s was taken: %s", c.Filename, c.Text)
			}
		}
	case "assert_return", "action", "assert_trap", "assert_exhaustion":
		m := s.last
		if c.Action.Module != "" {
			m = s.named[c.Action.Module]
		}
		values := append(slices.Clone(c.Action.Args), c.Expected...)
		if m == nil || s.apart || s.stale || slices.ContainsFunc(values, specValue.wide) {
			did = "left out"
			s.stale = s.stale || slices.ContainsFunc(values, func(v specValue) bool { return v.Type != "v128" && v.wide() })
			break
		}
		got, err := s.ask(ctx, m, c)
		if fails := c.Type == "assert_trap" || c.Type == "assert_exhaustion"; fails != (err != nil) {
			wrong("%s: %v", c.Action.Field, err)
		} else if !fails && c.Type == "assert_return" && !slices.EqualFunc(got, c.Expected, func(v uint64, want specValue) bool { return want.is(v) }) {
			wrong("%s gave %d, want %s", c.Action.Field, got, c.Expected)
		}
	}
	s.count[did]++
}

// as returns the name under which others import the module of command i.
func (s *specFile) as(i int) string {
	for j := i + 1; j < len(s.commands); j++ {
		switch c := &s.commands[j]; {
		case c.Type == "register" && (c.Name == "" || c.Name == s.commands[i].Name):
			return c.As
		case c.Type == "module" && s.commands[i].Name == "":
			return ""
		}
	}
	return ""
}

// leftOut reports whether the rewriter refuses a valid module by design.
func leftOut(err error) bool {
	return errors.Is(err, fuel.ErrUnsupported) || errors.Is(err, fuel.ErrLimit) || errors.Is(err, fuel.ErrMemory)
}

const plenty = 1 << 40

// withMemory adds an empty memory to a module without one, which the rewriter would otherwise
// refuse for that reason.
func withMemory(module []byte) []byte {
	const memory, global, dataCount = 5, 6, 12
	at := 0
	for i := 8; i < len(module); {
		id := module[i]
		size, n := binary.Uvarint(module[i+1:])
		if id == memory || n <= 0 || size > uint64(len(module)) {
			return module
		}
		if at == 0 && id >= global && id <= dataCount {
			at = i
		}
		i += 1 + n + int(size)
	}
	if at == 0 {
		at = len(module)
	}
	return slices.Concat(module[:at], []byte{memory, 3, 1, 0, 0}, module[at:])
}

// load rewrites and instantiates a module, and calls its original start function. With remember, a
// module without a memory gets an empty one.
func (s *specFile) load(ctx context.Context, file, as string, remember bool) (api.Module, error) {
	b, err := os.ReadFile(filepath.Join(filepath.Dir(s.name), file))
	if err != nil {
		return nil, err
	}
	if remember {
		b = withMemory(b)
	}
	rewritten, _, err := fuel.Rewrite(b, fuel.Config{Pages: 1 << 16})
	if err != nil {
		return nil, err
	}
	if old := s.runtime.Module(as); old != nil && as != "" {
		if err := old.Close(ctx); err != nil {
			return nil, err
		}
	}
	m, err := s.runtime.InstantiateWithConfig(ctx, rewritten, wazero.NewModuleConfig().WithName(as).WithStartFunctions())
	if err != nil {
		return nil, err
	}
	s.loaded = append(s.loaded, m)
	if start := m.ExportedFunction(fuel.Start); start != nil {
		s.fill()
		if _, err := start.Call(ctx); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// fill gives plenty of fuel to all modules, which call each other.
func (s *specFile) fill() {
	for _, m := range s.loaded {
		m.ExportedGlobal(fuel.Fuel).(api.MutableGlobal).Set(plenty)
		m.ExportedGlobal(fuel.Depth).(api.MutableGlobal).Set(0)
	}
}

// ask calls a function, or reads a global.
func (s *specFile) ask(ctx context.Context, m api.Module, c *specCommand) ([]uint64, error) {
	if c.Action.Type == "get" {
		return []uint64{m.ExportedGlobal(c.Action.Field).Get()}, nil
	}
	args := make([]uint64, len(c.Action.Args))
	for i, a := range c.Action.Args {
		args[i] = a.bits()
	}
	s.fill()
	f := m.ExportedFunction(c.Action.Field)
	if f == nil {
		return nil, nil
	}
	return f.Call(ctx, args...)
}

// wide reports whether wazero's callers can't pass a value, because it is a vector or a reference.
func (v specValue) wide() bool { return v.Type == "v128" || strings.HasSuffix(v.Type, "ref") }

func (v specValue) text() (s string) {
	_ = json.Unmarshal(v.Value, &s)
	return s
}

func (v specValue) bits() uint64 {
	n, err := strconv.ParseUint(v.text(), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// is compares bits; for a NaN the specification leaves some open.
func (v specValue) is(got uint64) bool {
	quiet := map[string]uint64{"f32": 0x7fc00000, "f64": 0x7ff8000000000000}[v.Type]
	switch sign := map[string]uint64{"f32": 1 << 31, "f64": 1 << 63}[v.Type]; v.text() {
	case "nan:canonical":
		return got&^sign == quiet
	case "nan:arithmetic":
		return got&quiet == quiet
	}
	return v.bits() == got
}
