package fuel

// Opcodes that need individual handling (WebAssembly core 2.0, appendix A.2).
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opSelectT      = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI32Eq        = 0x46
	opI32GtU       = 0x4b
	opI64LtS       = 0x53
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI64Sub       = 0x7d
	opI64Shl       = 0x86
	opI64ShrU      = 0x88
	opI64ExtendU   = 0xad // i64.extend_i32_u
	opLastNumeric  = 0xc4
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMisc         = 0xfc
	opVector       = 0xfd

	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscElemDrop   = 13
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableSize  = 16
	miscTableFill  = 17

	typeI32   = 0x7f
	typeI64   = 0x7e
	typeF32   = 0x7d
	typeF64   = 0x7c
	typeV128  = 0x7b
	typeFunc  = 0x70
	typeExt   = 0x6f
	typeEmpty = 0x40
)

// instr is the part of an instruction that the rewriting needs.
type instr struct {
	op     byte
	misc   uint32 // of opMisc
	arg    uint32 // index, or label
	more   uint32 // br_table: number of targets
	weight int
	shown  bool // it branches, calls, or works in bulk
}

// plain has the weight of each instruction that has no immediates and does not
// branch, and 0 for all others.
var plain = plainWeights()

func plainWeights() (w [256]uint8) {
	for op := opI32Eqz; op <= opLastNumeric; op++ {
		if w[op] = 1; slow(byte(op)) {
			w[op] = 8
		}
	}
	for _, op := range []byte{0x00, 0x01, 0x1a, 0x1b, opRefIsNull} { // unreachable, nop, drop, select
		w[op] = 1
	}
	return w
}

// read decodes one instruction and checks every index in it.
func (f *function) read(in *instr) (err error) {
	r := &f.code
	*in = instr{weight: 1}
	if in.op, err = r.byte(); err != nil {
		return err
	}
	index := func(what string, most int) {
		if err == nil {
			in.arg, err = r.index(what, most)
		}
	}
	m := f.m
	switch op := in.op; {
	case op >= opLocalGet && op <= opLocalTee:
		index("local", f.locals)
	case op >= 0x28 && op <= 0x3e:
		err = memarg(r)
		in.weight = 2
	case op == opI32Const:
		err = r.skipLEB(32)
	case op == opI64Const:
		err = r.skipLEB(64)
	case op == opElse, op == opEnd, op == opReturn:
		in.shown = true
	case op == opBlock, op == opLoop, op == opIf:
		err = f.blockType()
		in.shown = true
	case op == opBr, op == opBrIf:
		index("label", len(f.blocks))
		in.shown = true
	case op == opBrTable:
		if in.more, err = r.count("branch targets", 1, MaxTargets); err != nil {
			break
		}
		for i := uint32(0); i <= in.more && err == nil; i++ {
			index("label", len(f.blocks))
		}
		in.weight, in.shown = 2, true
	case op == opCall:
		index("function", m.functions())
		in.weight, in.shown = 4, true
	case op == opCallIndirect:
		index("type", len(m.types))
		index("table", m.tables)
		in.weight, in.shown = 8, true
	case op == opSelectT:
		var n uint32
		if n, err = r.count("types of select", 1, 1); err == nil {
			_, err = r.next(n)
		}
	case op == opGlobalGet, op == opGlobalSet:
		index("global", m.globals)
	case op == opTableGet, op == opTableSet:
		index("table", m.tables)
		in.weight = 4
	case op == opMemorySize, op == opMemoryGrow:
		_, err = r.next(1)
		in.shown = true
	case op == opF32Const:
		_, err = r.next(4)
	case op == opF64Const:
		_, err = r.next(8)
	case op == opRefNull:
		_, err = r.next(1)
	case op == opRefFunc:
		index("function", m.functions())
	case op == opMisc:
		err = f.misc(in)
		in.shown = true
	case op == opVector:
		in.weight = 4
		err = vector(r)
	default:
		err = unsupported("instruction %#02x at byte %d", op, r.base+r.i-1)
	}
	return err
}

// slow reports whether a numeric instruction takes about eight times as long as
// an addition: divisions, remainders, square roots, roundings, and conversions
// from floating point.
func slow(op byte) bool {
	switch {
	case op >= 0x6d && op <= 0x70, op >= 0x7f && op <= 0x82: // i32, i64: div, rem
		return true
	case op >= 0x8d && op <= 0x91, op >= 0x9b && op <= 0x9f: // f32, f64: ceil to sqrt
		return true
	case op == 0x95 || op == 0xa3: // f32.div, f64.div
		return true
	case op >= 0xa8 && op <= 0xab, op >= 0xae && op <= 0xb1: // truncations
		return true
	}
	return false
}

// misc reads the rest of an instruction with the prefix 0xfc.
func (f *function) misc(in *instr) (err error) {
	r := &f.code
	if in.misc, err = r.u32(); err != nil {
		return err
	}
	in.weight = 8
	switch in.misc {
	case 0, 1, 2, 3, 4, 5, 6, 7: // saturating truncations
		return nil
	case miscMemoryInit:
		if _, err = r.index("data segment", MaxSegments); err == nil {
			_, err = r.next(1)
		}
	case miscDataDrop:
		_, err = r.index("data segment", MaxSegments)
	case miscMemoryCopy:
		_, err = r.next(2)
	case miscMemoryFill:
		_, err = r.next(1)
	case miscTableInit:
		if _, err = r.index("element segment", MaxSegments); err == nil {
			_, err = r.index("table", f.m.tables)
		}
	case miscElemDrop:
		_, err = r.index("element segment", MaxSegments)
	case miscTableCopy:
		if _, err = r.index("table", f.m.tables); err == nil {
			_, err = r.index("table", f.m.tables)
		}
	case miscTableGrow, miscTableSize, miscTableFill:
		_, err = r.index("table", f.m.tables)
	default:
		err = unsupported("instruction 0xfc %d at byte %d", in.misc, r.base+r.i)
	}
	return err
}

func memarg(r *reader) error {
	if err := r.skipLEB(32); err != nil {
		return err
	}
	return r.skipLEB(32)
}

// vector skips the immediates of a SIMD instruction.
func vector(r *reader) error {
	op, err := r.u32()
	switch {
	case err != nil:
		return err
	case op <= 11, op == 92, op == 93: // loads and stores
		return memarg(r)
	case op == 12, op == 13: // v128.const, i8x16.shuffle
		_, err = r.next(16)
	case op >= 21 && op <= 34: // lanes
		_, err = r.next(1)
	case op >= 84 && op <= 91: // loads and stores of lanes
		if err = memarg(r); err == nil {
			_, err = r.next(1)
		}
	case op > 255: // relaxed SIMD: not the same on every machine
		err = unsupported("instruction 0xfd %d at byte %d", op, r.base+r.i)
	}
	return err
}
