package fuel

import "fmt"

// Sections by number (WebAssembly core 2.0, 5.5.2).
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
)

// order is the order that sections must have.
var order = [...]int{secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secGlobal: 6,
	secExport: 7, secStart: 8, secElement: 9, secDataCount: 10, secCode: 11, secData: 12}

// signature is a function type: value types, one byte each.
type signature struct{ params, results string }

type rewriter struct {
	config Config
	in     reader
	out    []byte

	types     []signature
	added     []string          // results of the added types
	addedType map[string]uint32 // by results: index
	imports   []Import
	typeOf    []uint32 // of each function, imported ones first
	tables    int
	memory    bool
	globals   int
	exports   map[string]Export
	start     int64 // function, or -1
	unrolled  int   // bytes that small loops have added
}

func (m *rewriter) functions() int { return len(m.typeOf) }

func (m *rewriter) run() error {
	head, err := m.in.next(8)
	if err != nil {
		return err
	}
	if string(head[:4]) != "\x00asm" {
		return malformed("it does not begin with \\\\0asm")
	}
	if string(head[4:]) == "\x0d\x00\x01\x00" || head[6] == 1 {
		return ErrComponent
	}
	if string(head[4:]) != "\x01\x00\x00\x00" {
		return unsupported("version %x", head[4:])
	}
	sections, err := m.split()
	if err != nil {
		return err
	}
	m.out = append(make([]byte, 0, len(m.in.b)*3/2), head...)
	// First the counts against which the indices of later sections are checked.
	if err := m.declare(sections[secType], sections[secImport], sections[secFunction]); err != nil {
		return err
	}
	if err := m.readStart(sections[secStart]); err != nil {
		return err
	}
	for _, id := range []byte{secTable, secMemory, secGlobal, secExport, secElement, secDataCount, secCode, secData} {
		if err := m.section(id, sections[id]); err != nil {
			return err
		}
	}
	if !m.memory {
		return unsupported("it has no memory of its own")
	}
	return nil
}

// split finds the sections. It leaves out custom ones.
func (m *rewriter) split() (sections [secDataCount + 1]*reader, err error) {
	last := 0
	for r := &m.in; r.left() > 0; {
		id, err := r.byte()
		if err != nil {
			return sections, err
		}
		n, err := r.u32()
		if err != nil {
			return sections, err
		}
		at := r.i
		p, err := r.next(n)
		switch {
		case err != nil:
			return sections, err
		case id == secCustom:
			if _, err := (&reader{b: p, base: at}).name(); err != nil {
				return sections, err
			}
			continue
		case id > secDataCount:
			return sections, unsupported("section %d at byte %d", id, at)
		case order[id] <= last:
			return sections, malformed("section %d at byte %d is twice or out of order", id, at)
		}
		last = order[id]
		sections[id] = &reader{b: p, base: at}
	}
	return sections, nil
}

// declare reads and writes types, imports and functions together, because the
// functions decide which types are added.
func (m *rewriter) declare(types, imports, functions *reader) error {
	if types != nil {
		if err := m.readTypes(types); err != nil {
			return err
		}
	}
	if imports != nil {
		if err := m.readImports(imports); err != nil {
			return err
		}
	}
	if functions != nil {
		if err := m.readFunctions(functions); err != nil {
			return err
		}
	}
	m.emit(secType, m.typeSection())
	if imports != nil {
		m.emit(secImport, imports.b)
	}
	if functions != nil {
		m.emit(secFunction, functions.b)
	}
	return nil
}

func (m *rewriter) section(id byte, r *reader) error {
	switch {
	case r != nil:
	case id == secGlobal || id == secExport: // added to, even if there is none
		r = &reader{b: []byte{0}}
	case id == secCode && len(m.imports) < len(m.typeOf):
		return malformed("functions without code")
	default:
		return nil
	}
	var body []byte
	var err error
	switch id {
	case secTable:
		body, err = m.tableSection(r)
	case secMemory:
		body, err = m.memorySection(r)
	case secGlobal:
		body, err = m.globalSection(r)
	case secExport:
		body, err = m.exportSection(r)
	case secElement:
		body, err = r.b, m.elementSection(r)
	case secDataCount:
		var n uint32
		if n, err = r.u32(); err == nil && n > MaxSegments {
			err = overLimit("data segments", uint64(n), MaxSegments)
		}
		body = r.b
	case secCode:
		body, err = m.codeSection(r)
	case secData:
		body, err = r.b, m.dataSection(r)
	}
	if err != nil {
		return err
	}
	if err := r.done(); err != nil {
		return err
	}
	m.emit(id, body)
	return nil
}

func (m *rewriter) emit(id byte, body []byte) {
	m.out = append(m.out, id)
	m.out = appendU32(m.out, uint32(len(body)))
	m.out = append(m.out, body...)
}

// limits reads the limits of a table or memory; most is -1 if there is no
// maximum.
func limits(r *reader) (least uint32, most int64, err error) {
	flag, err := r.byte()
	if err != nil {
		return 0, 0, err
	}
	if flag > 1 {
		return 0, 0, unsupported("limits of form %#x: shared or 64 bit", flag)
	}
	if least, err = r.u32(); err != nil || flag == 0 {
		return least, -1, err
	}
	v, err := r.u32()
	if err == nil && v < least {
		err = malformed("a maximum of %d under the minimum of %d", v, least)
	}
	return least, int64(v), err
}

func appendLimits(b []byte, least uint32, most int64) []byte {
	return appendU32(appendU32(append(b, 1), least), uint32(most))
}

func (m *rewriter) tableSection(r *reader) ([]byte, error) {
	n, err := r.count("tables", 3, MaxTables)
	if err != nil {
		return nil, err
	}
	body := appendU32(nil, n)
	for range n {
		t, err := r.byte()
		if err != nil {
			return nil, err
		}
		if t != typeFunc && t != typeExt {
			return nil, unsupported("table of type %#x", t)
		}
		least, most, err := limits(r)
		if err != nil {
			return nil, err
		}
		if least > MaxElements {
			return nil, overLimit("elements of a table", uint64(least), MaxElements)
		}
		if most < 0 || most > MaxElements {
			most = MaxElements
		}
		body = appendLimits(append(body, t), least, most)
	}
	m.tables = int(n)
	return body, nil
}

func (m *rewriter) memorySection(r *reader) ([]byte, error) {
	n, err := r.count("memories", 2, 1)
	if err != nil {
		return nil, err
	}
	body := appendU32(nil, n)
	for range n {
		least, most, err := limits(r)
		if err != nil {
			return nil, err
		}
		if int64(least) > int64(m.config.Pages) {
			return nil, fmt.Errorf("%w: %d pages to begin with, at most %d", ErrMemory, least, m.config.Pages)
		}
		if most > 1<<16 {
			return nil, malformed("a memory of up to %d pages, at most %d can be addressed", most, 1<<16)
		}
		if most < 0 || most > int64(m.config.Pages) {
			most = int64(m.config.Pages)
		}
		body = appendLimits(body, least, most)
		m.memory = true
	}
	return body, nil
}
