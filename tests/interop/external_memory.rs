// SPDX-License-Identifier: MIT
//! Maps external memory with declarations of its own, as Rust bindings do: memory that the driver
//! API exports is imported by the runtime API, once as a buffer and once as a mipmapped array.
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};

#[repr(C)]
#[derive(Default)]
struct AllocationProp {
    kind: c_int,
    handle_types: c_int,
    location_kind: c_int,
    location_id: c_int,
    win32: usize,
    flags: [u8; 8],
}

#[repr(C)]
struct AccessDesc {
    location_kind: c_int,
    location_id: c_int,
    flags: c_int,
}

#[repr(C)]
struct MemoryHandleDesc {
    kind: c_int,
    handle: [u64; 2], // a union: the descriptor is its first int
    size: c_ulonglong,
    flags: c_uint,
    reserved: [c_uint; 16],
}

#[repr(C)]
struct BufferDesc {
    offset: c_ulonglong,
    size: c_ulonglong,
    flags: c_uint,
    reserved: [c_uint; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ChannelFormatDesc {
    bits: [c_int; 4],
    kind: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Extent {
    width: usize,
    height: usize,
    depth: usize,
}

#[repr(C)]
struct MipmappedArrayDesc {
    offset: c_ulonglong,
    format: ChannelFormatDesc,
    extent: Extent,
    flags: c_uint,
    levels: c_uint,
    reserved: [c_uint; 16],
}

#[link(name = "cuda")]
extern "C" {
    fn cuMemCreate(handle: *mut u64, size: usize, prop: *const AllocationProp, flags: u64) -> c_int;
    fn cuMemExportToShareableHandle(
        out: *mut c_int,
        handle: u64,
        kind: c_int,
        flags: u64,
    ) -> c_int;
    fn cuMemAddressReserve(
        at: *mut u64,
        size: usize,
        align: usize,
        hint: u64,
        flags: u64,
    ) -> c_int;
    fn cuMemMap(at: u64, size: usize, offset: usize, handle: u64, flags: u64) -> c_int;
    fn cuMemSetAccess(at: u64, size: usize, desc: *const AccessDesc, count: usize) -> c_int;
}

#[link(name = "cudart")]
extern "C" {
    fn cudaFree(at: *mut c_void) -> c_int;
    fn cudaMemcpy(to: *mut c_void, from: *const c_void, size: usize, kind: c_int) -> c_int;
    fn cudaGetLastError() -> c_int;
    fn cudaImportExternalMemory(out: *mut *mut c_void, desc: *const MemoryHandleDesc) -> c_int;
    fn cudaExternalMemoryGetMappedBuffer(
        out: *mut *mut c_void,
        memory: *mut c_void,
        desc: *const BufferDesc,
    ) -> c_int;
    fn cudaExternalMemoryGetMappedMipmappedArray(
        out: *mut *mut c_void,
        memory: *mut c_void,
        desc: *const MipmappedArrayDesc,
    ) -> c_int;
    fn cudaGetMipmappedArrayLevel(out: *mut *mut c_void, chain: *mut c_void, n: c_uint) -> c_int;
    fn cudaMemcpy2DFromArray(
        to: *mut c_void,
        pitch: usize,
        from: *mut c_void,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
        kind: c_int,
    ) -> c_int;
    fn cudaFreeMipmappedArray(chain: *mut c_void) -> c_int;
    fn cudaDestroyExternalMemory(memory: *mut c_void) -> c_int;
}

const SIZE: usize = 2 << 20;
const POSIX_FD: c_int = 1; // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
const OPAQUE_FD: c_int = 1; // cudaExternalMemoryHandleTypeOpaqueFd
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const INVALID_VALUE: c_int = 1;

macro_rules! ok {
    ($($call:tt)*) => {
        let code = unsafe { $($call)* };
        assert_eq!(code, 0, stringify!($($call)*));
    };
}

/// Device memory that holds `bytes` at its beginning, and its file descriptor.
fn exported(bytes: &[u8]) -> c_int {
    let prop = AllocationProp {
        kind: 1,
        handle_types: POSIX_FD,
        location_kind: 1,
        ..Default::default()
    };
    let access = AccessDesc { location_kind: 1, location_id: 0, flags: 3 };
    let (mut handle, mut at, mut fd) = (0, 0, -1);
    ok!(cudaFree(std::ptr::null_mut())); // makes the primary context
    ok!(cuMemCreate(&mut handle, SIZE, &prop, 0));
    ok!(cuMemExportToShareableHandle(&mut fd, handle, POSIX_FD, 0));
    ok!(cuMemAddressReserve(&mut at, SIZE, 0, 0, 0));
    ok!(cuMemMap(at, SIZE, 0, handle, 0));
    ok!(cuMemSetAccess(at, SIZE, &access, 1));
    let source = bytes.as_ptr().cast();
    ok!(cudaMemcpy(at as *mut c_void, source, bytes.len(), HOST_TO_DEVICE));
    fd
}

fn imported(fd: c_int) -> *mut c_void {
    let desc = MemoryHandleDesc {
        kind: OPAQUE_FD,
        handle: [fd as u64, 0],
        size: SIZE as u64,
        flags: 0,
        reserved: [0; 16],
    };
    let mut memory = std::ptr::null_mut();
    ok!(cudaImportExternalMemory(&mut memory, &desc));
    memory
}

fn check_buffer(memory: *mut c_void, bytes: &[u8]) {
    let mut desc = BufferDesc { offset: 64, size: 128, flags: 0, reserved: [0; 16] };
    let mut buffer = std::ptr::null_mut();
    let mut back = [0u8; 128];
    ok!(cudaExternalMemoryGetMappedBuffer(&mut buffer, memory, &desc));
    ok!(cudaMemcpy(back.as_mut_ptr().cast(), buffer, back.len(), DEVICE_TO_HOST));
    assert_eq!(back, bytes[64..192]);
    ok!(cudaFree(buffer));
    desc.size = SIZE as u64; // with the offset, 64 bytes too many
    let code = unsafe { cudaExternalMemoryGetMappedBuffer(&mut buffer, memory, &desc) };
    assert_eq!(code, INVALID_VALUE);
    assert_eq!(unsafe { cudaGetLastError() }, INVALID_VALUE);
}

/// A row of one GOB: its bytes are where `bytes` says, 16 at a time.
fn check_array(memory: *mut c_void, bytes: &[u8]) {
    let desc = MipmappedArrayDesc {
        offset: 0,
        format: ChannelFormatDesc { bits: [8, 0, 0, 0], kind: 1 },
        extent: Extent { width: 64, height: 8, depth: 0 },
        flags: 0,
        levels: 1,
        reserved: [0; 16],
    };
    let (mut chain, mut level) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mut texels = [0u8; 64];
    ok!(cudaExternalMemoryGetMappedMipmappedArray(&mut chain, memory, &desc));
    ok!(cudaGetMipmappedArrayLevel(&mut level, chain, 0));
    let to = texels.as_mut_ptr().cast();
    ok!(cudaMemcpy2DFromArray(to, 64, level, 0, 0, 64, 1, DEVICE_TO_HOST));
    // Bit 4 of x is bit 6 of the address in a GOB, and bit 5 is bit 8.
    for (x, texel) in texels.iter().enumerate() {
        let at = (x & 15) | (x & 16) << 2 | (x & 32) << 3;
        assert_eq!(*texel, bytes[at], "texel {x}");
    }
    ok!(cudaFreeMipmappedArray(chain));
}

fn main() {
    let bytes: Vec<u8> = (0..4096u32).map(|i| (i * 2654435761 >> 24) as u8).collect();
    let memory = imported(exported(&bytes));
    check_buffer(memory, &bytes);
    check_array(memory, &bytes);
    ok!(cudaDestroyExternalMemory(memory));
    println!("external memory from Rust: a buffer and an array agree");
}
