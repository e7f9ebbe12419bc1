package fuel

// costBytes is the size of a stretch's cost in its i64.const: three bytes of LEB128 hold that of
// the heaviest body, MaxBody×8/WeightUnit.
const costBytes = 3

// function is one function body that is being rewritten.
type function struct {
	m      *rewriter
	sig    signature
	code   reader // from the first instruction on
	start  int    // offset of the first instruction in code
	decls  []byte // declarations of locals, and their number
	ndecls uint32
	locals int // parameters included
	slots  int // stack slots of the locals
	blocks []block
	calls  bool
	loops  bool
	count  int // blocks so far
	aims   int // branch targets so far
	weight int // weight read since the last instruction with shown set

	blockOf byte     // the type of the last block that was read: one byte, or 0
	before  [2]short // the two instructions before the current one
	list    []*loop  // all loops, in the order of their beginnings
	entered int      // number of loops entered so far
	open    []*loop
	mark    int // blocks of a dispatch that are not open yet
}

// block is an open control instruction; the first is the body itself.
type block struct {
	op       byte
	loop     *loop // the loop, if it is one
	dispatch bool  // a dispatch begins with it
}

// short is a shortened instruction. It is zero for an instruction without
// immediates.
type short struct {
	op   byte
	arg  uint32
	from int
}

// stretch is code that runs at most once for each charge: a body, or one turn
// of a loop, without the loops within it.
type stretch struct {
	patches []int // where in the output its cost has to be written
	weight  int
}

func (m *rewriter) codeSection(r *reader) ([]byte, error) {
	n, err := r.count("bodies", 2, MaxFunctions)
	if err != nil {
		return nil, err
	}
	if int(n) != len(m.typeOf)-len(m.imports) {
		return nil, malformed("%d bodies for %d functions", n, len(m.typeOf)-len(m.imports))
	}
	body := appendU32(make([]byte, 0, len(r.b)*3/2), n)
	var buf []byte
	for i := range n {
		size, err := r.u32()
		if err != nil {
			return nil, err
		}
		if size > MaxBody {
			return nil, overLimit("bytes in a function", uint64(size), MaxBody)
		}
		base := r.base + r.i
		p, err := r.next(size)
		if err != nil {
			return nil, err
		}
		f := function{m: m, sig: m.types[m.typeOf[len(m.imports)+int(i)]], code: reader{b: p, base: base}}
		if buf, err = f.rewrite(buf[:0]); err != nil {
			return nil, err
		}
		body = append(appendU32(body, uint32(len(buf))), buf...)
	}
	return body, nil
}

func (f *function) rewrite(out []byte) ([]byte, error) {
	if err := f.readLocals(); err != nil {
		return nil, err
	}
	if err := f.walk(f.look); err != nil {
		return nil, err
	}
	if f.count*f.locals > MaxLocalBlocks {
		return nil, overLimit("locals times blocks in a function", uint64(f.count*f.locals), MaxLocalBlocks)
	}
	e := emitter{f: f, out: out}
	e.begin()
	if err := f.walk(e.instruction); err != nil {
		return nil, err
	}
	return e.out, nil
}

func (f *function) readLocals() error {
	r := &f.code
	f.locals = len(f.sig.params)
	f.slots = f.locals
	n, err := r.count("declarations of locals", 2, MaxLocals)
	if err != nil {
		return err
	}
	f.ndecls = n
	from := r.i
	for range n {
		c, err := r.u32()
		if err != nil {
			return err
		}
		t, err := r.byte()
		if err != nil {
			return err
		}
		if uint64(f.locals)+uint64(c) > MaxLocals {
			return overLimit("locals in a function", uint64(f.locals)+uint64(c), MaxLocals)
		}
		f.locals += int(c)
		f.slots += int(c)
		if t == typeV128 {
			f.slots += int(c)
		}
	}
	f.decls = r.b[from:r.i]
	f.start = r.i
	return nil
}

// walk reads the body from its first instruction to its last end. It calls see, with their offsets,
// for instructions that branch, call, or work in bulk, before blocks changes. It adds up the weight
// of the others.
func (f *function) walk(see func(in *instr, from int) error) error {
	r := &f.code
	r.i = f.start
	f.weight, f.entered, f.mark = 0, 0, 0
	f.blocks = append(f.blocks[:0], block{})
	var in instr
	for len(f.blocks) > 0 {
		from := r.i
		if from < len(r.b) {
			if w := plain[r.b[from]]; w != 0 {
				f.weight += int(w)
				r.i++
				f.before = [2]short{}
				continue
			}
		}
		if err := f.read(&in); err != nil {
			return err
		}
		f.weight += in.weight
		if !in.shown {
			f.before = [2]short{f.before[1], {in.op, in.arg, from}}
			continue
		}
		if in.op == opElse && f.blocks[len(f.blocks)-1].op != opIf {
			return malformed("else without if at byte %d", r.base+from)
		}
		if err := see(&in, from); err != nil {
			return err
		}
		f.before = [2]short{}
		switch in.op {
		case opBlock, opIf:
			f.blocks = append(f.blocks, block{op: in.op, dispatch: f.mark > 0})
			f.mark = max(f.mark-1, 0)
		case opLoop:
			f.blocks = append(f.blocks, block{op: opLoop, loop: f.enter()})
		case opElse:
			f.blocks[len(f.blocks)-1].op = opElse
		case opEnd:
			n := len(f.blocks) - 1
			if f.blocks[n].loop != nil {
				f.open = f.open[:len(f.open)-1]
			}
			f.blocks = f.blocks[:n]
		}
	}
	return r.done()
}

// look counts what is limited, and finds out whether the function calls others, and which kinds of
// loops it has.
func (f *function) look(in *instr, from int) error {
	inner := f.inner()
	if inner != nil {
		inner.weight += f.weight
	}
	f.weight = 0
	switch in.op {
	case opBlock, opLoop, opIf:
		if inner != nil {
			inner.blocks++
		}
		f.loops = f.loops || in.op == opLoop
		if f.count++; f.count > MaxBlocks {
			return overLimit("blocks in a function", uint64(f.count), MaxBlocks)
		}
		if len(f.blocks) > MaxNesting {
			return overLimit("nested blocks", uint64(len(f.blocks)), MaxNesting)
		}
	case opBr, opBrIf:
		f.aim(in.arg, in.op == opBr)
	case opEnd:
		if l := f.blocks[len(f.blocks)-1].loop; l != nil {
			l.to = from
		}
	case opBrTable:
		f.aimAll(from)
		if f.aims += int(in.more); f.aims > MaxTargets {
			return overLimit("branch targets in a function", uint64(f.aims), MaxTargets)
		}
	case opCall, opCallIndirect:
		f.calls = true
	}
	if inner != nil {
		switch in.op {
		case opBrTable, opCall, opCallIndirect, opMemoryGrow, opMisc:
			inner.small = false
		}
	}
	return nil
}

// blockType skips the type of a block.
func (f *function) blockType() error {
	r := &f.code
	if r.left() > 0 {
		switch f.blockOf = r.b[r.i]; f.blockOf {
		case typeEmpty, typeI32, typeI64, typeF32, typeF64, typeV128, typeFunc, typeExt:
			r.i++
			return nil
		}
	}
	f.blockOf = 0
	_, err := r.index("type of a block", len(f.m.types))
	return err
}

// frame returns how many stack slots a call of the function is assumed to use:
// its locals, room for temporary values, and the frame itself.
func (f *function) frame() int64 { return int64(16 + f.slots + (len(f.code.b)-f.start)/16) }
