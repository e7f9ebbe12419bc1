package fuel

import "strings"

func (m *rewriter) readTypes(r *reader) error {
	n, err := r.count("types", 3, MaxTypes)
	if err != nil {
		return err
	}
	for range n {
		form, err := r.byte()
		if err != nil {
			return err
		}
		if form != 0x60 {
			return unsupported("type of form %#x", form)
		}
		var s [2]string
		for i := range s {
			c, err := r.count("parameters or results", 1, MaxParams)
			if err != nil {
				return err
			}
			p, err := r.next(c)
			if err != nil {
				return err
			}
			s[i] = string(p)
		}
		m.types = append(m.types, signature{s[0], s[1]})
	}
	return r.done()
}

// typeSection writes the module's types, followed by the added ones. An added
// type has no parameters, and the results of a function with several; the block
// around that function's body needs it.
func (m *rewriter) typeSection() []byte {
	m.addedType = map[string]uint32{}
	for _, t := range m.typeOf[len(m.imports):] {
		res := m.types[t].results
		if _, ok := m.addedType[res]; len(res) > 1 && !ok {
			m.addedType[res] = uint32(len(m.types) + len(m.added))
			m.added = append(m.added, res)
		}
	}
	body := appendU32(nil, uint32(len(m.types)+len(m.added)))
	for _, t := range m.types {
		body = appendName(appendName(append(body, 0x60), t.params), t.results)
	}
	for _, res := range m.added {
		body = appendName(appendName(append(body, 0x60), ""), res)
	}
	return body
}

func (m *rewriter) readImports(r *reader) error {
	n, err := r.count("imports", 4, MaxImports)
	if err != nil {
		return err
	}
	for range n {
		var i Import
		if i.Module, err = r.name(); err == nil {
			i.Name, err = r.name()
		}
		if err != nil {
			return err
		}
		kind, err := r.byte()
		if err != nil {
			return err
		}
		if kind != KindFunction {
			return unsupported("import %q %q is no function", i.Module, i.Name)
		}
		t, err := r.index("type", len(m.types))
		if err != nil {
			return err
		}
		m.imports = append(m.imports, i)
		m.typeOf = append(m.typeOf, t)
	}
	return r.done()
}

func (m *rewriter) readFunctions(r *reader) error {
	n, err := r.count("functions", 1, MaxFunctions)
	if err != nil {
		return err
	}
	for range n {
		t, err := r.index("type", len(m.types))
		if err != nil {
			return err
		}
		m.typeOf = append(m.typeOf, t)
	}
	return r.done()
}

func (m *rewriter) globalSection(r *reader) ([]byte, error) {
	n, err := r.count("globals", 4, MaxGlobals)
	if err != nil {
		return nil, err
	}
	start := r.i
	for range n {
		if _, err := r.next(2); err != nil { // type, mutable
			return nil, err
		}
		if err := m.constant(r); err != nil {
			return nil, err
		}
	}
	m.globals = int(n)
	body := append(appendU32(nil, n+3), r.b[start:r.i]...)
	body = append(body, typeI64, 1, opI64Const, 0, opEnd)
	body = append(body, typeI32, 1, opI32Const, 0, opEnd)
	body = append(body, typeI32, 1, opI32Const, 0, opEnd)
	return body, nil
}

// These are the indices of the added globals.
func (m *rewriter) fuel() uint32    { return uint32(m.globals) }
func (m *rewriter) depth() uint32   { return uint32(m.globals) + 1 }
func (m *rewriter) starved() uint32 { return uint32(m.globals) + 2 }

// constant skips an initialiser: one constant instruction and an end. It may
// not read a global, because there are no imported globals.
func (m *rewriter) constant(r *reader) error {
	op, err := r.byte()
	if err != nil {
		return err
	}
	switch op {
	case opI32Const:
		err = r.skipLEB(32)
	case opI64Const:
		err = r.skipLEB(64)
	case opF32Const:
		_, err = r.next(4)
	case opF64Const:
		_, err = r.next(8)
	case opRefNull:
		_, err = r.next(1)
	case opRefFunc:
		_, err = r.index("function", m.functions())
	case opVector:
		var v uint32
		if v, err = r.u32(); err == nil && v == 12 {
			_, err = r.next(16)
		} else if err == nil {
			err = unsupported("initialiser with 0xfd %d at byte %d", v, r.base+r.i)
		}
	default:
		err = unsupported("initialiser with %#02x at byte %d", op, r.base+r.i-1)
	}
	if err != nil {
		return err
	}
	end, err := r.byte()
	if err == nil && end != opEnd {
		err = unsupported("initialiser of several instructions at byte %d", r.base+r.i-1)
	}
	return err
}

func (m *rewriter) exportSection(r *reader) ([]byte, error) {
	n, err := r.count("exports", 3, MaxExports)
	if err != nil {
		return nil, err
	}
	start := r.i
	m.exports = make(map[string]Export, n)
	for range n {
		name, err := r.name()
		if err != nil {
			return nil, err
		}
		e := Export{}
		if e.Kind, err = r.byte(); err != nil {
			return nil, err
		}
		var most int
		switch e.Kind {
		case KindFunction:
			most = m.functions()
		case KindTable:
			most = m.tables
		case KindMemory:
			if m.memory {
				most = 1
			}
		case KindGlobal:
			most = m.globals
		default:
			return nil, unsupported("export %q of kind %d", name, e.Kind)
		}
		if e.Index, err = r.index("export", most); err != nil {
			return nil, err
		}
		if _, ok := m.exports[name]; ok {
			return nil, malformed("export %q twice", name)
		}
		if strings.HasPrefix(name, Prefix) {
			return nil, unsupported("export %q: names with %q are the host's", name, Prefix)
		}
		if e.Kind == KindFunction {
			t := m.types[m.typeOf[e.Index]]
			e.Params, e.Results = t.params, t.results
		}
		m.exports[name] = e
	}
	added := uint32(3)
	if m.start >= 0 {
		added++
	}
	body := append(appendU32(nil, n+added), r.b[start:r.i]...)
	if m.start >= 0 {
		body = appendU32(append(appendName(body, Start), KindFunction), uint32(m.start))
	}
	for _, g := range []struct {
		name  string
		index uint32
	}{{Fuel, m.fuel()}, {Depth, m.depth()}, {Starved, m.starved()}} {
		body = appendU32(append(appendName(body, g.name), KindGlobal), g.index)
	}
	return body, nil
}

// readStart records the start function, which an export replaces.
func (m *rewriter) readStart(r *reader) error {
	m.start = -1
	if r == nil {
		return nil
	}
	i, err := r.index("start function", m.functions())
	if err != nil {
		return err
	}
	if t := m.types[m.typeOf[i]]; t.params+t.results != "" {
		return malformed("the start function takes or gives something")
	}
	m.start = int64(i)
	return r.done()
}

func (m *rewriter) dataSection(r *reader) error {
	n, err := r.count("data segments", 2, MaxSegments)
	if err != nil {
		return err
	}
	for range n {
		flag, err := r.index("form of data", 3)
		if err == nil && flag == 2 {
			_, err = r.index("memory", 1)
		}
		if err == nil && flag != 1 {
			err = m.constant(r)
		}
		var size uint32
		if err == nil {
			size, err = r.u32()
		}
		if err == nil {
			_, err = r.next(size)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *rewriter) elementSection(r *reader) error {
	n, err := r.count("element segments", 2, MaxSegments)
	if err != nil {
		return err
	}
	total := uint64(0)
	for range n {
		c, err := m.element(r)
		if err != nil {
			return err
		}
		if total += uint64(c); total > MaxElements {
			return overLimit("elements", total, MaxElements)
		}
	}
	return nil
}

// element reads one segment (core 2.0, 5.5.12). Bit 0 of its form says that it
// is passive or declared, bit 1 that a table or kind is given, bit 2 that the
// elements are expressions.
func (m *rewriter) element(r *reader) (uint32, error) {
	form, err := r.index("form of elements", 8)
	if err == nil && form&1 == 0 {
		if form&2 != 0 {
			_, err = r.index("table", m.tables)
		}
		if err == nil {
			err = m.constant(r)
		}
	}
	if err == nil && form&3 != 0 {
		_, err = r.next(1) // kind or type
	}
	if err != nil {
		return 0, err
	}
	n, err := r.count("elements", 1, MaxElements)
	for i := uint32(0); i < n && err == nil; i++ {
		if form&4 != 0 {
			err = m.constant(r)
		} else {
			_, err = r.index("function", m.functions())
		}
	}
	return n, err
}
