package fuel

// loop is one loop of a body, as found in the first pass. Two kinds need not pay at the beginning
// of each turn.
//
// A small loop, without a loop, call or bulk operation inside, is copied several times, and pays
// for as many turns at once:
//
//	loop t             block $out t
//	  body               loop $turns t
//	end                    pay
//	                       block block t body end br 2 ($out) end
//	                       block block t body end br 2 ($out) end
//	                       …
//	                       br 0 ($turns)
//	                     end
//	                   end
//
// A branch to the loop leaves the outer block around its copy, and so continues with the next. The
// inner block makes the body leave the loop's results: a branch alone would drop surplus values.
//
// A dispatch is the loop that Go makes of a function: it begins with blocks and a br_table by a
// local, which jumps to the end of one of them. A jump within the function sets the local to a
// constant and branches to the loop. If the end of that block is still ahead, the loop's code is
// still passed through only once, and nothing is paid. If it lies behind, the branch pays, and so
// does the entry into the loop.
type loop struct {
	from, to int  // range of its body: after the type, and up to the end
	result   byte // its type; 0: none that takes one byte
	weight   int  // without inner loops
	blocks   int  // in the body
	small    bool
	dispatch *dispatch // nil: it is not a dispatch
}

// dispatch describes the beginning of such a loop.
type dispatch struct {
	local  uint32
	blocks int      // blocks that it opens
	table  []uint32 // the block for each value of the local, counted from the innermost; the last one is for all other values
}

// Limits of small loops.
const (
	unrolled      = 4         // number of copies
	maxLoopWeight = 2 * 64    // of one turn
	maxLoopBytes  = 256       // of one body
	maxUnrolled   = 256 << 10 // bytes added to a module
)

// inner returns the innermost open loop, or nil.
func (f *function) inner() *loop {
	if n := len(f.open); n > 0 {
		return f.open[n-1]
	}
	return nil
}

// enter opens a loop whose type has been read. In the second pass the loop
// exists already.
func (f *function) enter() *loop {
	if f.entered == len(f.list) {
		for _, l := range f.open {
			l.small = false
		}
		l := &loop{from: f.code.i, result: f.blockOf}
		l.small = l.result != 0
		if l.result == typeEmpty {
			l.dispatch = f.peek()
		}
		f.list = append(f.list, l)
	}
	l := f.list[f.entered]
	f.entered++
	f.open = append(f.open, l)
	if l.dispatch != nil {
		f.mark = l.dispatch.blocks
	}
	return l
}

// peek checks whether a dispatch begins here. Malformed code is found when it
// is read.
func (f *function) peek() *dispatch {
	r := f.code
	d := &dispatch{}
	for r.left() >= 2 && r.b[r.i] == opBlock && r.b[r.i+1] == typeEmpty {
		r.i += 2
		d.blocks++
	}
	op, err := r.byte()
	if d.blocks == 0 || err != nil || op != opLocalGet {
		return nil
	}
	if d.local, err = r.u32(); err != nil {
		return nil
	}
	if op, err = r.byte(); err != nil || op != opBrTable {
		return nil
	}
	n, err := r.count("branch targets", 1, MaxTargets)
	for i := uint32(0); i <= n && err == nil; i++ {
		var label uint32
		label, err = r.u32()
		d.table = append(d.table, label)
	}
	if err != nil {
		return nil
	}
	return d
}

// aim records a branch. A loop stays a dispatch only if each branch to it is unconditional and not
// inside another loop. Otherwise it pays like any loop.
func (f *function) aim(label uint32, always bool) {
	l := f.blocks[len(f.blocks)-1-int(label)].loop
	if l != nil && (!always || f.inner() != l) {
		l.dispatch = nil
	}
}

// aimAll is aim for a br_table that begins at from.
func (f *function) aimAll(from int) {
	r := f.code
	r.i = from + 1
	n, _ := r.u32() // it was read before
	for i := uint32(0); i <= n; i++ {
		label, _ := r.u32()
		f.aim(label, false)
	}
}

// ahead reports whether the branch to the dispatch l, open as block n, leads to
// code that was not passed in this turn.
func (f *function) ahead(l *loop, n int) bool {
	d, c, s := l.dispatch, f.before[0], f.before[1]
	if c.op != opI32Const || s.op != opLocalSet || s.arg != d.local {
		return false
	}
	r := f.code
	r.i = c.from + 1
	block := d.table[min(uint64(r.constant32()), uint64(len(d.table)-1))]
	if int64(block) >= int64(d.blocks) {
		return false
	}
	at := n + d.blocks - int(block)
	return at < len(f.blocks) && f.blocks[at].dispatch
}

// unrolls reports whether a small loop is to be copied several times, and
// subtracts the added bytes from what a function and a module may have.
func (f *function) unrolls(l *loop) bool {
	if !l.small || l.weight > maxLoopWeight || l.to-l.from > maxLoopBytes {
		return false
	}
	blocks := f.count + 1 + unrolled*(2+l.blocks)
	bytes := unrolled * (l.to - l.from + 11)
	if blocks > MaxBlocks || blocks*f.locals > MaxLocalBlocks || f.m.unrolled+bytes > maxUnrolled {
		return false
	}
	f.count = blocks
	f.m.unrolled += bytes
	return true
}

// unroll writes a small loop, which began at from, up to its last end.
func (e *emitter) unroll(l *loop, from int) error {
	f := e.f
	r := &f.code
	open := len(f.blocks)
	e.upTo(from)
	e.op(opBlock, l.result, opLoop, l.result)
	e.fuel()
	e.constant(opI64Const, cost(unrolled*l.weight))
	e.op(opI64Sub)
	e.check()
	for range unrolled {
		e.op(opBlock, typeEmpty, opBlock, l.result)
		f.blocks = append(f.blocks[:open], block{op: opLoop})
		e.copied, r.i = l.from, l.from
		for r.i < l.to {
			if err := e.copyInstruction(open); err != nil {
				return err
			}
		}
		e.upTo(l.to)
		e.op(opEnd)
		e.indexed(opBr, 2)
		e.op(opEnd)
	}
	f.blocks = f.blocks[:open]
	e.indexed(opBr, 0)
	e.op(opEnd)
	return nil
}

// copyInstruction copies one instruction of a small loop, with open blocks around it. A branch to the loop
// has to leave one more block, and one out of it three.
func (e *emitter) copyInstruction(open int) error {
	f := e.f
	r := &f.code
	from := r.i
	if plain[r.b[from]] != 0 {
		r.i++
		return nil
	}
	var in instr
	if err := f.read(&in); err != nil {
		return err
	}
	switch in.op {
	case opBlock, opIf:
		f.blocks = append(f.blocks, block{op: in.op})
	case opEnd:
		f.blocks = f.blocks[:len(f.blocks)-1]
	case opBr, opBrIf:
		more := uint32(0)
		switch own := len(f.blocks) - open - 1; { // blocks of the loop's body that are open
		case int(in.arg) > own:
			more = 3
		case int(in.arg) == own:
			more = 1
		}
		if more > 0 {
			e.upTo(from)
			e.indexed(in.op, in.arg+more)
			e.copied = r.i
		}
	case opReturn:
		e.upTo(from)
		e.indexed(opBr, uint32(len(f.blocks)-1)+3)
		e.copied = r.i
	}
	return nil
}
