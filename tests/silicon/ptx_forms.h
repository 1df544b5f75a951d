// SPDX-License-Identifier: MIT
// Forms of PTX instructions, for recorded programs that draw from them. Draws must not change.
//
// A row has a pattern and its operands. In the pattern, {.x,.y} is one of these and [.x,.y] one of
// these or nothing; groups are numbered from 0. If it has a $, it is a whole text: $d $e $f $g are
// results, $a $b $c operands, and $0 what the first group has. Otherwise results and operands
// follow it in their order. < and > are braces.
//
// Operands are "results:operands", a letter each: h w l are integers of 16, 32 and 64 bits, F D H B
// f32, f64, f16 and bf16, P Q pairs of f16 and bf16, p predicates. A digit is the type that its
// group has. # is a constant from 0 to 255, s a register with a number of bits. $x and $y are parts
// of the register before, such as .b0; $x may be all of it.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FORM_ANYWHERE, FORM_ALONE, FORM_WARP }; // alone: not in programs; warp: all lanes together
enum { FORM_GROUPS = 10, FORM_TEXT_B = 1200 };

struct form_row {
    int where;
    const char *pattern, *operands;
};

struct form {
    char text[FORM_TEXT_B]; // a template
    char results[8], operands[8];
};

#define INT "{.u16,.u32,.u64,.s16,.s32,.s64}"
#define S "{.s16,.s32,.s64}"
#define U "{.u16,.u32,.u64}"
#define BITS "{.b16,.b32,.b64}"
#define WORD "{.u32,.s32}"
#define WORDS "{.u32,.s32,.u64,.s64}"
#define RND "{.rn,.rz,.rm,.rp}"
#define RNDI "{.rni,.rzi,.rmi,.rpi}"
#define I8 "{.u8,.s8,.u16,.s16,.u32,.s32,.u64,.s64}"
#define ORDERED "{.eq,.ne,.lt,.le,.gt,.ge}"
#define FCMP "{.eq,.ne,.lt,.le,.gt,.ge,.equ,.neu,.ltu,.leu,.gtu,.geu,.num,.nan}"
#define BOOL "{.and,.or,.xor}"
#define ALL "0xffffffff"

static const struct form_row form_rows[] = {
    {0, "add" INT, "0:00"},
    {0, "sub" INT, "0:00"},
    {0, "{add,sub}.sat.s32", "w:ww"},
    {0, "add{.u16x2,.s16x2}", "w:ww"},
    {0, "mul{.lo,.hi}" INT, "1:11"},
    {0, "mul.wide{.u16,.s16}", "w:hh"},
    {0, "mul.wide" WORD, "l:ww"},
    {0, "mad{.lo,.hi}" INT, "1:111"},
    {0, "mad.wide{.u16,.s16}", "w:hhw"},
    {0, "mad.wide" WORD, "l:wwl"},
    {0, "mad.hi.sat.s32", "w:www"},
    {0, "mul24{.lo,.hi}" WORD, "w:ww"},
    {0, "mad24{.lo,.hi}" WORD, "w:www"},
    {0, "mad24.hi.sat.s32", "w:www"},
    {0, "sad" INT, "0:000"},
    {0, "div" INT, "0:00"},
    {0, "rem" INT, "0:00"},
    {0, "{abs,neg}" S, "1:1"},
    {0, "{min,max}" INT, "1:11"},
    {0, "{min,max}.u16x2", "w:ww"},
    {0, "{min,max}[.relu]{.s16x2,.s32}", "w:ww"},
    {0, "dp4a" WORD WORD, "w:www"},
    {0, "dp2a{.lo,.hi}" WORD WORD, "w:www"},
    {0, "add.cc" WORDS " $d,$a,$b; addc.cc$0 $e,$a,$c; addc$0 $f,0,0;", "000:000"},
    {0, "sub.cc" WORDS " $d,$a,$b; subc.cc$0 $e,$a,$c; subc$0 $f,$b,$a;", "000:000"},
    {0, "mad.lo.cc" WORDS " $d,$a,$b,$c; madc.hi.cc$0 $e,$a,$c,$b; addc$0 $f,0,$a;", "000:000"},
    {0, "mad.hi.cc" WORDS " $d,$a,$b,$c; madc.lo.cc$0 $e,$a,$b,$c; madc.hi$0 $f,$b,$c,$a;",
     "000:000"},
    {0, "setp" ORDERED INT, "p:11"},
    {0, "setp{.lo,.ls,.hi,.hs}" U, "p:11"},
    {0, "setp{.eq,.ne}" BITS, "p:11"},
    {0, "setp" ORDERED BOOL INT " $d|$e,$a,$b,$c;", "pp:22p"},
    {0, "setp" ORDERED BOOL WORDS " $d|$e,$a,$b,!$c;", "pp:22p"},
    {0, "set" ORDERED "{.u32,.s32,.f32}" INT, "1:22"},
    {0, "set" ORDERED BOOL "{.u32,.s32,.f32}" WORDS, "2:33p"},
    {0, "selp{.u16,.s32,.b64,.b16,.b32}", "0:00p"},
    {0, "selp.f32", "F:FFp"},
    {0, "selp.f64", "D:DDp"},
    {0, "slct{.b16,.u32,.s64,.f32,.f64}.s32", "0:00w"},
    {0, "slct[.ftz]{.b16,.s32,.u64,.f32,.f64}.f32", "1:11F"},
    {0, "{and,or,xor}" BITS, "1:11"},
    {0, "{and,or,xor}.pred", "p:pp"},
    {0, "{not,cnot}" BITS, "1:1"},
    {0, "not.pred", "p:p"},
    {0, "lop3.b32 $d,$a,$b,$c,$#;", "w:www"},
    {0, "lop3{.or,.and}.b32 $d|$e,$a,$b,$c,$#,$k;", "wp:wwwp"},
    {0, "{shl,shr}" BITS, "1:1s"},
    {0, "shr" INT, "0:0s"},
    {0, "shf{.l,.r}{.clamp,.wrap}.b32", "w:wws"},
    {0, "{popc,clz}.b32", "w:w"},
    {0, "{popc,clz}.b64", "w:l"},
    {0, "brev{.b32,.b64}", "0:0"},
    {0, "bfind[.shiftamt]" WORD, "w:w"},
    {0, "bfind[.shiftamt]{.u64,.s64}", "w:l"},
    {0, "<.reg .b32 %q; and.b32 %q,$b,31; fns.b32 $d,$a,%q,$c;>", "w:wws"},
    {0, "bfe" WORDS, "0:0ss"},
    {0, "bfi{.b32,.b64}", "0:00ss"},
    {0, "bmsk{.clamp,.wrap}.b32", "w:ss"},
    {0, "szext{.clamp,.wrap}" WORD, "w:ws"},
    {0, "prmt.b32[.f4e,.b4e,.rc8,.ecl,.ecr,.rc16]", "w:www"},
    {0, "{vadd,vsub,vabsdiff,vmin,vmax}" WORD WORD WORD "[.sat]{.add,.min,.max} $d,$a$x,$b$x,$c;",
     "w:www"},
    {0, "{vadd,vsub,vabsdiff,vmin,vmax}" WORD WORD WORD "[.sat] $d,$a$x,$b$x;", "w:ww"},
    {0, "{vadd,vsub,vabsdiff,vmin,vmax}" WORD WORD WORD "[.sat] $d$y,$a$x,$b$x,$c;", "w:www"},
    {FORM_ALONE, "{vadd,vmax}" WORD WORD WORD "[.sat] $d,$a$x,$b$x,$c;", "w:www"},
    {0, "{vshl,vshr}" WORD WORD ".u32[.sat]{.clamp,.wrap}{.add,.min,.max} $d,$a$x,$b$x,$c;",
     "w:wsw"},
    {0, "{vshl,vshr}" WORD WORD ".u32[.sat]{.clamp,.wrap} $d,$a$x,$b$x;", "w:ws"},
    {0, "{vshl,vshr}" WORD WORD ".u32[.sat]{.clamp,.wrap} $d$y,$a$x,$b$x,$c;", "w:wsw"},
    {0, "vset" WORD WORD ORDERED "{.add,.min,.max} $d,$a$x,$b$x,$c;", "w:www"},
    {0, "vset" WORD WORD ORDERED " $d$y,$a$x,$b$x,$c;", "w:www"},
    {0, "vmad" WORD WORD WORD "[.po][.sat][.shr7,.shr15] $d,$a$x,$b$x,$c;", "w:www"},
    {0, "{vadd2,vsub2,vavrg2,vabsdiff2,vmin2,vmax2}" WORD WORD WORD "[.sat,.add]", "w:www"},
    {0, "{vadd4,vsub4,vavrg4,vabsdiff4,vmin4,vmax4}" WORD WORD WORD "[.sat,.add]", "w:www"},
    {0, "{vset2,vset4}" WORD WORD ORDERED "[.add]", "w:www"},
    {0, "{add,sub,mul}" RND "[.ftz][.sat].f32", "F:FF"},
    {FORM_ALONE, "{add,sub,mul}[.ftz][.sat].f32", "F:FF"},
    {0, "{fma,mad}" RND "[.ftz][.sat].f32", "F:FFF"},
    {0, "{add,sub,mul}" RND ".f64", "D:DD"},
    {FORM_ALONE, "{add,sub,mul}.f64", "D:DD"},
    {0, "{fma,mad}" RND ".f64", "D:DDD"},
    {0, "div" RND "[.ftz].f32", "F:FF"},
    {0, "div" RND ".f64", "D:DD"},
    {0, "{rcp,sqrt}" RND "[.ftz].f32", "F:F"},
    {0, "{rcp,sqrt}" RND ".f64", "D:D"},
    {0, "{neg,abs}[.ftz].f32", "F:F"},
    {0, "{neg,abs}.f64", "D:D"},
    {0, "{neg,abs}[.ftz].f16", "H:H"},
    {0, "{neg,abs}[.ftz].f16x2", "P:P"},
    {0, "{neg,abs}.bf16", "B:B"},
    {0, "{neg,abs}.bf16x2", "Q:Q"},
    {0, "copysign{.f32,.f64}", "0:00"},
    {0, "testp{.finite,.infinite,.number,.notanumber,.normal,.subnormal}{.f32,.f64}", "p:1"},
    {0, "{min,max}[.ftz][.NaN][.xorsign.abs].f32", "F:FF"},
    {0, "{min,max}.f64", "D:DD"},
    {0, "{min,max}[.ftz][.NaN][.xorsign.abs]{.f16,.f16x2}", "4:44"},
    {0, "{min,max}[.NaN][.xorsign.abs]{.bf16,.bf16x2}", "3:33"},
    {0, "{add,sub,mul}.rn[.ftz][.sat]{.f16,.f16x2}", "3:33"},
    {FORM_ALONE, "{add,sub,mul}[.ftz][.sat]{.f16,.f16x2}", "3:33"},
    {0, "{add,sub,mul}.rn{.bf16,.bf16x2}", "1:11"},
    {0, "fma.rn[.ftz][.sat]{.f16,.f16x2}", "2:222"},
    {0, "fma.rn[.ftz].relu{.f16,.f16x2}", "1:111"},
    {0, "fma.rn[.relu]{.bf16,.bf16x2}", "1:111"},
    {0, "fma.rn.oob[.relu]{.f16,.f16x2,.bf16,.bf16x2}", "1:111"},
    {0, "setp" FCMP "[.ftz].f32", "p:FF"},
    {0, "setp" FCMP "[.ftz].f16", "p:HH"},
    {0, "setp" FCMP ".f64", "p:DD"},
    {0, "setp" FCMP ".bf16", "p:BB"},
    {0, "setp" FCMP BOOL "[.ftz].f32 $d|$e,$a,$b,$c;", "pp:FFp"},
    {0, "setp" FCMP BOOL ".f64 $d|$e,$a,$b,!$c;", "pp:DDp"},
    {0, "setp" FCMP "[.ftz].f16x2 $d|$e,$a,$b;", "pp:PP"},
    {0, "setp" FCMP ".bf16x2 $d|$e,$a,$b;", "pp:QQ"},
    {0, "setp" FCMP BOOL "[.ftz].f16x2 $d|$e,$a,$b,$c;", "pp:PPp"},
    {0, "set" FCMP "[.ftz]{.u32,.s32,.f32}.f32", "2:FF"},
    {0, "set" FCMP "{.u32,.s32,.f32}.f64", "1:DD"},
    {0, "set" FCMP BOOL "[.ftz]{.u32,.s32,.f32}.f32", "3:FFp"},
    {0, "set" FCMP "[.ftz]{.f16,.u16,.s16,.u32,.s32}.f16", "2:HH"},
    {0, "set" FCMP "[.ftz]{.f16x2,.u32,.s32}.f16x2", "2:PP"},
    {0, "set" FCMP "{.bf16,.u16,.s16,.u32,.s32}.bf16", "1:BB"},
    {0, "set" FCMP "{.bf16x2,.u32,.s32}.bf16x2", "1:QQ"},
    {0, "{rcp,sqrt,rsqrt,sin,cos,lg2,ex2}.approx[.ftz].f32", "F:F"},
    {0, "tanh.approx.f32", "F:F"},
    {0, "div{.approx,.full}[.ftz].f32", "F:FF"},
    {0, "rcp.approx.ftz.f64", "D:D"},
    {0, "rsqrt.approx[.ftz].f64", "D:D"},
    {0, "{ex2,tanh}.approx{.f16,.f16x2}", "1:1"},
    {0, "ex2.approx.ftz{.bf16,.bf16x2}", "0:0"},
    {0, "tanh.approx{.bf16,.bf16x2}", "0:0"},
    {0, "cvt" I8 I8, "0:1"},
    {FORM_ALONE, "cvt.sat" I8 I8, "0:1"},
    {0, "cvt" RNDI "[.ftz][.sat]" I8 ".f32", "3:F"},
    {0, "cvt" RNDI "[.sat]" I8 ".f64", "2:D"},
    {0, "cvt" RNDI "[.sat]" I8 ".f16", "2:H"},
    {0, "cvt" RNDI INT ".bf16", "1:B"},
    {0, "cvt" RND "[.sat]{.f32,.f64,.f16}" I8, "2:3"},
    {0, "cvt" RND ".bf16" INT, "B:1"},
    {0, "cvt" RNDI "[.ftz][.sat].f32.f32", "F:F"},
    {0, "cvt" RNDI "[.sat].f64.f64", "D:D"},
    {0, "cvt" RNDI "[.sat].f16.f16", "H:H"},
    {0, "cvt" RND "[.ftz][.sat].f32.f64", "F:D"},
    {0, "cvt[.ftz][.sat].f64.f32", "D:F"},
    {0, "cvt" RND "[.ftz][.sat].f16.f32", "H:F"},
    {0, "cvt" RND "[.sat].f16.f64", "H:D"},
    {0, "cvt[.ftz][.sat].f32.f16", "F:H"},
    {0, "cvt[.sat].f64.f16", "D:H"},
    {0, "cvt.f32.bf16", "F:B"},
    {0, "cvt" RND ".bf16{.f32,.f64,.f16}", "B:1"},
    {0, "cvt.f64.bf16", "D:B"},
    {0, "cvt.rn.f16.bf16", "H:B"},
    {0, "cvt{.rn,.rz}[.relu][.satfinite]{.f16,.bf16}.f32", "3:F"},
    {0, "cvt{.rn,.rz}[.relu][.satfinite]{.f16x2,.bf16x2}.f32", "3:FF"},
    {0, "cvt.rna[.satfinite].tf32.f32", "w:F"},
    {0, "cvt{.rn,.rz}[.relu].tf32.f32", "w:F"},
    {FORM_ALONE, "cvt{.rna,.rn,.rz}[.satfinite].relu.tf32.f32", "w:F"},
    {0, "cvt.rn.satfinite[.relu]{.e4m3x2,.e5m2x2}.f32", "h:FF"},
    {0, "cvt.rn.satfinite[.relu]{.e4m3x2,.e5m2x2}.f16x2", "h:P"},
    {0, "cvt.rn[.relu].f16x2{.e4m3x2,.e5m2x2}", "P:h"},
    {0, "cvt.pack.sat{.u16,.s16}.s32", "w:ww"},
    {0, "cvt.pack.sat{.u8,.s8,.u4,.s4,.u2,.s2}.s32.b32", "w:www"},
    {0, "mov.b32", "F:w"},
    {0, "mov.b32", "w:F"},
    {0, "mov.b64", "D:l"},
    {0, "mov.b64", "l:D"},
    {0, "mov.b16", "H:h"},
    {0, "mov.b16", "h:B"},
    {0, "mov.b16", "B:h"},
    {0, "mov.b32", "P:w"},
    {0, "mov.b32", "w:Q"},
    {0, "mov.b32", "Q:w"},
    {0, "mov.b64 $d,<$a,$b>;", "l:ww"},
    {0, "mov.b64 <$d,$e>,$a;", "ww:l"},
    {0, "mov.b32 $d,<$a,$b>;", "w:hh"},
    {0, "mov.b32 <$d,$e>,$a;", "hh:w"},
    {0, "mov.b32 $d,<$a,$b>;", "P:HH"},
    {0, "mov.b64 $d,<$a,$b,$c,$a>;", "l:hhh"},
    {0, "mov.b64 <$d,$e,$f,$g>,$a;", "hhhh:l"},
    {FORM_WARP, "shfl.sync{.up,.down,.bfly,.idx}.b32 $d|$e,$a,$b,$c," ALL ";", "wp:wsw"},
    {FORM_WARP, "vote.sync{.all,.any,.uni}.pred $d,$a," ALL ";", "p:p"},
    {FORM_WARP, "vote.sync.ballot.b32 $d,!$a," ALL ";", "w:p"},
    {FORM_WARP, "match.any.sync{.b32,.b64} $d,$a," ALL ";", "w:0"},
    {FORM_WARP, "match.all.sync{.b32,.b64} $d|$e,$a," ALL ";", "wp:0"},
    {FORM_WARP, "redux.sync{.add,.min,.max}" WORD " $d,$a," ALL ";", "w:w"},
    {FORM_WARP, "redux.sync{.and,.or,.xor}.b32 $d,$a," ALL ";", "w:w"},
    {FORM_WARP, "movmatrix.sync.aligned.m8n8.trans.b16", "w:w"},
};
enum { FORM_ROWS = sizeof form_rows / sizeof *form_rows };

// ---- expansion ----

// Reads the group that begins at `p` (behind its bracket): its alternatives, and what follows it.
static const char *form_group(const char *p, char end, const char *alternatives[], int lengths[],
                              int *count)
{
    *count = 0;
    for (;;) {
        const char *from = p;
        while (*p != ',' && *p != end)
            p++;
        alternatives[*count] = from;
        lengths[(*count)++] = (int)(p - from);
        if (*p++ == end)
            break;
    }
    if (end == ']') {
        alternatives[*count] = p;
        lengths[(*count)++] = 0;
    }
    return p;
}

static inline uint64_t form_count(const struct form_row *row)
{
    const char *alternatives[16];
    int lengths[16], count;
    uint64_t all = 1;
    for (const char *p = row->pattern; *p;) {
        const char c = *p++;
        if (c != '{' && c != '[')
            continue;
        p = form_group(p, c == '{' ? '}' : ']', alternatives, lengths, &count);
        all *= (uint64_t)count;
    }
    return all;
}

static inline char form_class(const char *type)
{
    static const char *const names[] = {".u8",  ".s8",  ".b8",  ".u16",  ".s16",   ".b16",
                                        ".u32", ".s32", ".b32", ".u64",  ".s64",   ".b64",
                                        ".f32", ".f64", ".f16", ".bf16", ".f16x2", ".bf16x2"};
    static const char classes[] = "hhhhhhwwwlllFDHBPQ";
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(type, names[i]))
            return classes[i];
    return '?';
}

// The classes of operands, with digits replaced.
static const char *form_classes(const char *p, char end, char to[], char types[][16])
{
    int n = 0;
    for (; *p != end; p++)
        to[n++] = *p >= '0' && *p <= '9' ? form_class(types[*p - '0']) : *p;
    to[n] = 0;
    return p + 1;
}

// The form of a row with this number (0 to form_count - 1).
static inline void form_make(const struct form_row *row, uint64_t number, struct form *f)
{
    char types[FORM_GROUPS][16] = {{0}};
    int groups = 0;
    size_t n = 0;
    for (const char *p = row->pattern; *p;) {
        const char *alternatives[16];
        int lengths[16], count;
        const char c = *p++;
        if (c == '$' && *p >= '0' && *p <= '9') {
            n += (size_t)snprintf(f->text + n, FORM_TEXT_B - n, "%s", types[*p++ - '0']);
            continue;
        }
        if (c != '{' && c != '[') {
            f->text[n++] = c;
            continue;
        }
        p = form_group(p, c == '{' ? '}' : ']', alternatives, lengths, &count);
        const int pick = (int)(number % (uint64_t)count);
        number /= (uint64_t)count;
        snprintf(types[groups], sizeof types[groups], "%.*s", lengths[pick], alternatives[pick]);
        n += (size_t)snprintf(f->text + n, FORM_TEXT_B - n, "%s", types[groups++]);
    }
    f->text[n] = 0;
    form_classes(form_classes(row->operands, ':', f->results, types), 0, f->operands, types);
    if (strchr(f->text, '$'))
        return;
    const char *separator = " ";
    for (size_t i = 0; f->results[i]; i++, separator = ",")
        n += (size_t)snprintf(f->text + n, FORM_TEXT_B - n, "%s$%c", separator, "defg"[i]);
    for (size_t i = 0; f->operands[i]; i++, separator = ",")
        n += (size_t)snprintf(f->text + n, FORM_TEXT_B - n, "%s$%c", separator, "abck"[i]);
    snprintf(f->text + n, FORM_TEXT_B - n, ";");
}

// Writes a form's text with the names of its results and operands. `constant` draws the
// numbers of $# and the parts of $x and $y.
static inline size_t form_write(char *to, const struct form *f, char names[8][24],
                                uint32_t (*constant)(void))
{
    static const char *const selectors[] = {"", "", "", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    char *const from = to;
    for (const char *p = f->text; *p; p++) {
        if (*p != '$') {
            *to++ = *p == '<' ? '{' : *p == '>' ? '}' : *p;
            continue;
        }
        const char letter = *++p;
        if (letter == '#')
            to += sprintf(to, "%u", constant() & 255);
        else if (letter == 'y')
            to += sprintf(to, "%s", selectors[3 + constant() % 6]);
        else if (letter == 'x')
            to += sprintf(to, "%s", selectors[constant() % 9]);
        else
            to += sprintf(to, "%s", names[strchr("defgabck", letter) - "defgabck"]);
    }
    *to = 0;
    return (size_t)(to - from);
}

// ---- inputs ----

static uint64_t form_state;

static inline uint32_t form_draw(void)
{
    uint64_t z = form_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) >> 16);
}

static inline uint64_t form_draw_64(void)
{
    const uint64_t high = form_draw();
    return high << 32 | form_draw();
}

static inline size_t form_size(char class)
{
    return strchr("hHB", class) ? 2 : strchr("lD", class) ? 8 : 4;
}

// A random float with `mantissa` and `exponent` bits: special ones, ones near 1, ones that are
// halfway between others if they are rounded, small numbers, and any bits.
static inline uint64_t form_draw_float(int mantissa, int exponent)
{
    const uint64_t one = 1, top = one << (mantissa + exponent), quiet = one << (mantissa - 1);
    const uint64_t infinity = ((one << exponent) - 1) << mantissa, fraction = (one << mantissa) - 1;
    const uint64_t bias = (one << (exponent - 1)) - 1, sign = form_draw() & 1 ? top : 0;
    const uint64_t any = form_draw_64(), small = form_draw() & 15;
    switch (form_draw() % 12) {
    case 0: {
        const uint64_t special[] = {0,
                                    1,
                                    fraction,
                                    fraction + 1,
                                    infinity,
                                    infinity - 1,
                                    infinity | quiet,
                                    infinity | 1,
                                    infinity | (any & fraction),
                                    bias << mantissa,
                                    (bias << mantissa) + 1,
                                    (bias << mantissa) - 1,
                                    (bias + 1) << mantissa,
                                    any & fraction};
        return sign | special[form_draw() % (sizeof special / sizeof *special)];
    }
    case 1:
        return sign | (any & fraction) >> small % (unsigned)mantissa;
    case 2: // a few bits below the last ones of smaller types
        return sign | (bias + (any >> 60) - 8) << mantissa |
               (form_draw() & 7) << (mantissa > 8 ? mantissa - 8 - (int)(small & 3) : 0);
    case 3: // integers and halves
        return sign | (bias + small) << mantissa |
               (any & fraction & ~((fraction >> small) >> (form_draw() & 1)));
    case 4:
        return sign | ((any >> 48) % (bias + bias) + 1) << mantissa | (any & fraction);
    case 5:
    case 6:
    case 7:
        return sign | (bias + small - 8) << mantissa | (any & fraction);
    case 8:
    case 9:
        return sign | (bias + small / 4 - 2) << mantissa | (any & fraction);
    default:
        return any & (top | (top - 1));
    }
}

static inline uint64_t form_draw_integer(int bits)
{
    const uint64_t one = 1, any = form_draw_64(),
                   mask = bits == 64 ? ~UINT64_C(0) : (one << bits) - 1;
    switch (form_draw() % 8) {
    case 0:
        return form_draw() % 5 - UINT64_C(2);
    case 1:
        return (one << any % (unsigned)bits) + form_draw() % 3 - 1;
    case 2:
        return mask - (one << any % (unsigned)bits) + form_draw() % 3 - 1;
    case 3:
        return (any & mask) >> form_draw() % (unsigned)bits;
    case 4:
        return form_draw() % 70;
    case 5:
        return UINT64_C(0x8080808080808080) >> form_draw() % 8 ^ (any & 0xff);
    default:
        return any;
    }
}

static inline uint64_t form_draw_value(char class)
{
    switch (class) {
    case 'h':
        return form_draw_integer(16);
    case 'l':
        return form_draw_integer(64);
    case 'F':
        return form_draw_float(23, 8);
    case 'D':
        return form_draw_float(52, 11);
    case 'H':
        return form_draw_float(10, 5);
    case 'B':
        return form_draw_float(7, 8);
    case 'P':
        return form_draw_float(10, 5) | form_draw_float(10, 5) << 16;
    case 'Q':
        return form_draw_float(7, 8) | form_draw_float(7, 8) << 16;
    case 's':
        return form_draw() % 8 ? form_draw() % 72 : form_draw_integer(32);
    default:
        return form_draw_integer(32);
    }
}

static inline uint64_t form_hash(uint64_t sum, const void *bytes, size_t size_B)
{
    for (size_t i = 0; i < size_B; i += 2) {
        uint16_t half;
        memcpy(&half, (const char *)bytes + i, 2);
        sum = (sum ^ half) * UINT64_C(0x100000001b3);
        sum ^= sum >> 29;
    }
    return sum;
}
