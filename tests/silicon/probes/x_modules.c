// SPDX-License-Identifier: MIT
// Modules, libraries, linking, launch arguments, globals, printf, limits, and what follows a kernel
// that faults. Calls whose results depend on a spoiled context each have a group (a process) of
// their own.
//   x_modules            run everything          PROBE_ONLY=group x_modules    one group
// The embedded binaries were made with the CUDA 13.0 ptxas and fatbinary; Zn. in their text is n
// zero bytes.
#include "probe.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#define W(name, call)                                                                              \
    do {                                                                                           \
        CUresult w_ = (call);                                                                      \
        do {                                                                                       \
            OUT("%s", *probe_st->line ? "; " : "");                                                \
            OUT("%s", name);                                                                       \
            OUT(" %s", R(w_));                                                                     \
        } while (0);                                                                               \
    } while (0)
#define Q(name, call) CASE(name) OUT("%s", R(call))
#define EACH(v, ...) for (const int *v = (const int[]){__VA_ARGS__, -99}; *v != -99; v++)
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
static const char *CUBIN90 =
    "7f454c460201014108Z7.0200be0001Z11.a00eZ6.200aZ6."
    "045a0006400038000600400012000100002e7368737472746162002e737472746162002e73796d746162002e73796d"
    "7461625f73686e6478002e6e6f74652e6e762e746b696e"
    "666f002e6e6f74652e6e762e6375696e666f002e6e762e696e666f002e6e762e636f6d706174002e746578742e6b00"
    "2e6e762e696e666f2e6b002e6e762e7368617265642e6b002e6e762e7368617265642e72657365727665642e30002e"
    "6e"
    "762e676c6f62616c2e696e6974002e6e762e636f6e7374616e7434Z4."
    "2e64656275675f6672616d65002e72656c2e6e762e636f6e7374616e742e706963002e72656c612e6e762e636f6e73"
    "74616e7434Z4.2e72656c2e64656275675f6672"
    "616d65002e72656c612e64656275675f6672616d65002e6e762e63616c6c6772617068002e6e762e70726f746f7479"
    "7065002e6e762e636f6e7374616e74302e6bZ35."
    "2e7368737472746162002e737472746162002e73796d746162002e73"
    "796d7461625f73686e6478002e6e6f74652e6e762e746b696e666f002e6e6f74652e6e762e6375696e666f002e6e76"
    "2e696e666f002e6e762e636f6d706174002e746578742e6b002e6e762e696e666f2e6b002e6e762e7368617265642e"
    "6b"
    "002e6e762e7265736572766564536d656d2e6f666673657430002e6e762e7368617265642e72657365727665642e30"
    "005f5f6e765f7265736572766564534d454d5f6f66667365745f305f616c696173002e6e762e676c6f62616c2e696e"
    "69"
    "74002e6e762e636f6e7374616e7434Z4."
    "2e64656275675f6672616d65002e72656c2e6e762e636f6e7374616e742e706963002e72656c612e6e762e636f6e73"
    "74616e742e706963002e72656c2e64656275675f6672616d65002e72656c61"
    "2e64656275675f6672616d65002e6e762e63616c6c6772617068002e6e762e70726f746f74797065006b0067002e6e"
    "762e636f6e7374616e74302e6bZ28.29Z3.030005Z17.39Z3.030006Z17.5dZ3.03000eZ17.7dZ3.21Z11.04Z7."
    "acZ3."
    "20a010Z17.cdZ3.03000fZ17.ddZ3.03000dZ17.eeZ3.030004Z17.4901000003000aZ17.6501000012100eZ9."
    "8001Z6.6701000011000fZ9.04Z7.69010000030011Z17.ffffffff24Z7."
    "ffffffffffffffff0300047cffffffff0f0c8180"
    "80280008ff8180280881808028Z3.ffffffff2cZ23.8001Z6.041cZ3.0404Z3.0c81808028Z5.0cZ3.88Z3."
    "d00700004e564944494120436f72700002Z7.01Z3.07Z3.36Z3.60Z4."
    "7074786173004375646120636f6d70696c6174696f6e20"
    "746f6f6c732c2072656c656173652031332e302c205631332e302e3838004275696c6420637564615f31332e302e72"
    "31332e302f636f6d70696c65722e33363432343731345f30002d6172636820736d5f393020Z4.0cZ3.08Z3."
    "e8030000"
    "4e564944494120436f72700002005a0082Z3.042f08000aZ3.0aZ3.041108000aZ7.041208000aZ7."
    "020900000202010002050500030701010203000002060100040b08Z9.0437040082Z3.04170cZ10."
    "f0210003500000031bff00035f01"
    "01041c040070Z3.03190800040a08000cZ3.100208000436040008Z7.ffffffffZ4.feffffffZ4.fdffffffZ4."
    "fcffffffZ12.02Z3.0bZ11.44Z7.02Z3.0aZ51.827b01ff000aZ3.08Z3.f00f00827b02ffZ3.01000aZ3."
    "220e00b97a0400"
    "0082Z3.0aZ3.e40f008179020204Z4.191e0c00aa1e00827b04ff0084Z3.0aZ3.220e001078070223Z3."
    "ffe0ff0700ca4f008679000407Z3.0419100c00e21f004d79Z8."
    "800300ea0f004779fc00fcffffffffff830300c00f001879Z11.c0"
    "0f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11."
    "c00f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11."
    "c00f001879Z11.c00f001879"
    "Z11.c00f0007Z607.01Z3.03Z19.40Z7.3b01Z14.01Z15.0bZ3.03Z19.9c01Z6.7901Z14.01Z15.13Z3.02Z19."
    "1803Z6.3801Z6.02Z3.0dZ3.08Z7.18Z7.b4Z3.01Z19.5004Z6.68Z15.01Z15.29Z3.07Z6.02Z12.b804Z6.a0Z15."
    "04Z15."
    "39Z3.07Z3.40000001Z12.5805Z6.20Z7.05Z3.08Z3.04Z15.49Z6.70Z16.7805Z6.24Z7.03Z7.04Z15.52Z3."
    "86000070Z16.9c05Z6.24Z15.04Z15.65Z6.7040Z15.c005Z6.44Z7.03Z3.0eZ3.04Z15.0f01000001000070Z16."
    "0406Z6.20"
    "Z7.03Z7.04Z7.08Z7.d6Z3.04Z3.40Z15.2806Z6.18Z7.03Z3.0dZ3.08Z7.18Z7.fdZ3.04Z3.40Z15.4006Z6.18Z7."
    "03Z3.04Z3.08Z7.18Z7.a3Z3.01Z3.02Z15.5806Z6.08Z15.08Z15.5dZ3.01Z3.06Z15.8006Z6.8001Z6.03Z3."
    "0aZ3."
    "80Z15.93Z3.01Z3.03Z16.08Z6.04Z15.04Z15.7dZ3.08Z3.03Z15.0408Z22.01Z15.2b01000001Z3.42Z15."
    "0408Z6.1802Z10.0eZ3.04Z15.06Z3.04Z3.a00eZ22.5001Z6.5001Z6.08Z7.01Z3.04Z3.a00eZ22.5001Z6."
    "5001Z6.08Z7.01"
    "Z3.04Z3.5806Z22.08Z7.08Z7.08Z7.01Z3.05Z3.8006Z22.8001Z6.8001Z6.08Z7.01Z3.06Z4.08Z22.04Z7.04Z7."
    "08Z7.01Z3.04Z3.0408Z22.1802Z6.1802Z6.08Z7.";
static const char *CUBIN75 =
    "7f454c460201014108Z7.0200be0001Z11.c80bZ6.8807Z6."
    "044b0006400038000400400011000100002e7368737472746162002e737472746162002e73796d746162002e73796d"
    "7461625f73686e6478002e6e6f74652e6e762e746b696e"
    "666f002e6e6f74652e6e762e6375696e666f002e6e762e696e666f002e746578742e6b002e6e762e696e666f2e6b00"
    "2e6e762e7368617265642e6b002e6e762e676c6f62616c2e696e6974002e6e762e636f6e7374616e7434002e6e762e"
    "63"
    "6f6e7374616e74302e6b002e72656c2e6e762e636f6e7374616e74302e6b002e64656275675f6672616d65002e7265"
    "6c2e6e762e636f6e7374616e7434002e72656c2e64656275675f6672616d65002e72656c612e64656275675f667261"
    "6d"
    "65002e6e762e63616c6c6772617068002e6e762e70726f746f74797065002e6e762e72656c2e616374696f6e00002e"
    "7368737472746162002e737472746162002e73796d746162002e73796d7461625f73686e6478002e6e6f74652e6e76"
    "2e"
    "746b696e666f002e6e6f74652e6e762e6375696e666f002e6e762e696e666f002e746578742e6b002e6e762e696e66"
    "6f2e6b002e6e762e7368617265642e6b002e6e762e676c6f62616c2e696e6974002e6e762e636f6e7374616e743400"
    "2e"
    "72656c2e6e762e636f6e7374616e74302e6b002e6e762e636f6e7374616e74302e6b002e64656275675f6672616d65"
    "002e72656c2e6e762e636f6e7374616e7434002e72656c2e64656275675f6672616d65002e72656c612e6465627567"
    "5f"
    "6672616d65002e6e762e63616c6c6772617068002e6e762e70726f746f74797065002e6e762e72656c2e616374696f"
    "6e006b0067Z27.29Z3.030005Z17.39Z3.030006Z17.52Z3.03000fZ17.72Z3.030010Z17.82Z3.03000dZ17.a4Z3."
    "03"
    "000eZ17.b4Z3.030004Z17.f6Z3.030009Z17.1201000003000aZ17.2101000012100fZ9.80Z7."
    "23010000110010Z9.04Z7.ffffffff24Z7."
    "ffffffffffffffff0300047cffffffff0f0c818080280008ff8180280881808028Z3.ffffffff"
    "34Z23.80Z7.0404Z3.0418Z3.0c818080280004fcffff3fZ7.0cZ3.88Z3."
    "d00700004e564944494120436f72700002Z7.01Z3.07Z3.36Z3.60Z4."
    "7074786173004375646120636f6d70696c6174696f6e20746f6f6c732c2072656c656173"
    "652031332e302c205631332e302e3838004275696c6420637564615f31332e302e7231332e302f636f6d70696c6572"
    "2e33363432343731345f30002d6172636820736d5f373520Z4.0cZ3.08Z3."
    "e80300004e564944494120436f72700002"
    "004b0082Z3.042f08000aZ3.04Z3.041108000aZ7.041208000aZ7.0436040001Z3.0437040082Z3.040a080006Z3."
    "600108000319080004170cZ10.f02100031bff00035f0000041c040060Z7.ffffffffZ4.feffffffZ4.fdffffffZ4."
    "fc"
    "ffffffZ4.73Z10.1125000536Z8.02Z3.0bZ3.44Z7.02Z3.0aZ371.027a0100000aZ3.0fZ3.e40f00b97a04Z4."
    "01000aZ3.e40f00817900ff04Z4.e91e0c00a20e00b97a04000058Z3.0aZ3.e20f001078000023Z3."
    "ffe0ff0700d04f0086"
    "7900ffZ4.04e9100c00e20f004d79Z8.800300ea0f0047790000f0ffffffffff830300c00f0007Z71.01Z3.03Z19."
    "40Z7.2101Z14.01Z15.0bZ3.03Z19.6101Z6.2501Z14.01Z15.13Z3.02Z19.8802Z6.2001Z6.02Z3.0aZ3.08Z7."
    "18Z7."
    "b4Z3.01Z19.a803Z6.70Z15.01Z15.29Z3.07Z6.02Z12.1804Z6.a0Z15.04Z15.39Z3.07Z6.01Z12.b804Z6.20Z7."
    "05Z7.04Z15.49Z6.70Z16.d804Z6.24Z7.03Z7.04Z15.5aZ6.7040Z15.fc04Z6.40Z7.03Z3.0fZ3.04Z15.f6Z3."
    "010000"
    "70Z16.3c05Z6.20Z7.03Z7.04Z7.08Z7.120100000b000070Z16.6005Z6.10Z15.08Z7.08Z7.c1Z3.09Z3.40Z15."
    "7005Z6.10Z7.03Z3.0dZ3.08Z7.10Z7.d3Z3.09Z3.40Z15.8005Z6.10Z7.03Z3.04Z3.08Z7.10Z7.82Z3.01Z3."
    "02Z15.90"
    "05Z6.08Z15.08Z15.90Z3.01Z3.42Z15.9805Z6.6801Z10.0fZ3.04Z15.52Z3.01Z3.06Z16.07Z6.80Z7.03Z3."
    "0a00000480Z15.72Z3.01Z3.03Z15.8007Z6.04Z15.04Z15.06Z3.05Z3.c80bZ22.e0Z7.e0Z7.08Z7.01Z3.05Z3."
    "9005Z22."
    "f001Z6.f001Z6.08Z7.01Z3.06Z3.8007Z22.04Z7.04Z7.08Z7.01Z3.05Z3.c80bZ22.e0Z7.e0Z7.08Z7.";
static const char *FAT90 = "50ed55ba010010003010Z6.0200010140Z3.f00fZ14.080001005aZ11.11Z23.";
static const char *FAT75 = "50ed55ba01001000e80cZ6.0200010140Z3.a80cZ14.080001004bZ11.11Z23.";
static const char *FATPTX =
    "50ed55ba010010005801Z6.0100010150Z3.0801Z10.40Z5.08005aZ11.11Z23.48Z15."
    "2e76657273696f6e20382e300a2e74617267657420736d5f39300a2e616464726573735f73697a652036340a2e7669"
    "7369626c65202e676c6f6261"
    "6c202e616c69676e2034202e75333220673d373b0a2e76697369626c65202e656e747279206b282e706172616d202e"
    "7536342070290a7b0a2e726567202e6236342025783b0a2e726567202e6233322025723b0a6c642e706172616d2e75"
    "36"
    "342025782c5b705d3b0a637674612e746f2e676c6f62616c2e7536342025782c25783b0a6c642e676c6f62616c2e75"
    "33322025722c5b675d3b0a6164642e7533322025722c25722c33353b0a73742e676c6f62616c2e753332205b25785d"
    "2c"
    "25723b0a7265743b0a7d0aZ4.";
static const char *FATPTXZ =
    "50ed55ba010010001001Z6.0100010150Z3.c0Z7.beZ3.40Z5.08005aZ11.1180Z14.0501Z6.48Z15."
    "28b52ffd600500a50500e20a24204067aa03c0941a68109b556ee578a4956118c3bd92be18a264038639c385df8d04"
    "3dd036fd9732a9"
    "644a6d8763bd72aeb5292f592e3e937b4a02da142859937251dbab358e36a96508c3fbfc590dd4002d4322dea6bf21"
    "2e0c2cc14fc71b22e0ad7144bc6c9d0763f3c6669ef8783d325042899521eb05502e52fa3bd7ac05c0d2c89dfebe27"
    "6b"
    "c189751e28df250e0c2010c6b107b140aff819e80817a085c0103e0172b3e2b664583a12f21c0346010000";
static const char *FATBOTH_A = "50ed55ba01001000f80dZ6.0200010140Z3.a80cZ14.080001004bZ11.11Z23.";
static const char *FATBOTH_B = "0100010150Z3.c0Z7.beZ3.40Z5.08004bZ11.1180Z14.0501Z6.48Z15."
                               "28b52ffd600500a50500e20a24205047d5013003e229c9ed7951b3336956550ddb2"
                               "22284aa54999f61e63342d701043dd036fd9732a9644a6d46b15e39d7da9497"
                               "2c179fc93d25016d0a94ac49b9a8edd512459bd4b283e17dfeac066a80961d116fd"
                               "3df10170696e0a7e30d09784b14112f5be7c1d8bcb199273e5e8f0c94506265c77a"
                               "01948b94fece35ab812c8ddce9ef7bb21e18609d07ca7789030c2010"
                               "c6b107b140aff819e80817a085c0103e0172b3e2b664583a12f21c0346010000";
static const char *RELOC90 =
    "7f454c460201014108Z7.0100be0001Z19.a00aZ6.045a000640Z5."
    "400010000100002e7368737472746162002e737472746162002e73796d746162002e73796d7461625f73686e647800"
    "2e6e6f74652e6e762e746b696e666f002e6e6f74"
    "652e6e762e6375696e666f002e6e762e696e666f002e6e762e636f6d706174002e746578742e6b002e6e762e696e66"
    "6f2e6b002e6e762e7368617265642e6b002e6e762e676c6f62616c2e696e6974002e72656c2e746578742e6b002e72"
    "65"
    "6c612e746578742e6b002e64656275675f6672616d65002e72656c2e64656275675f6672616d65002e72656c612e64"
    "656275675f6672616d65002e6e762e63616c6c6772617068002e6e762e70726f746f74797065002e6e762e636f6e73"
    "74"
    "616e74302e6bZ35."
    "2e7368737472746162002e737472746162002e73796d746162002e73796d7461625f73686e6478002e6e6f74652e6e"
    "762e746b696e666f002e6e6f74652e6e762e6375696e666f002e6e762e696e666f002e6e762e636f"
    "6d706174002e746578742e6b002e6e762e696e666f2e6b002e6e762e7368617265642e6b005f5f5544545f4f464653"
    "4554005f5f5546545f4f4646534554005f5f5546545f43414e4f4e4943414c005f5f5544545f43414e4f4e4943414c"
    "00"
    "5f5f554654005f5f554454005f5f5546545f454e44005f5f5544545f454e44002e6e762e7265736572766564536d65"
    "6d2e6f666673657430002e6e762e676c6f62616c2e696e6974002e72656c2e746578742e6b002e72656c612e746578"
    "74"
    "2e6b002e64656275675f6672616d65002e72656c2e64656275675f6672616d65002e72656c612e64656275675f6672"
    "616d65002e6e762e63616c6c6772617068002e6e762e70726f746f74797065006b0067002e6e762e636f6e7374616e"
    "74"
    "302e6bZ29.29Z3.030005Z17.39Z3.030006Z17.5dZ3.03000dZ17.7dZ3.21Z11.08Z7.8aZ3.21Z11.08Z7.97Z3."
    "21Z11.08Z7.a7Z3.21Z11.08Z7.b7Z3.21Z11.08Z7.bdZ3.21Z11.08Z7.c3Z3.21Z11.08Z7.cdZ3.21Z11.08Z7."
    "d7Z3.21"
    "Z11.04Z7.f0Z3.03000eZ17.19010000030004Z17.4901000003000aZ17.6501000012100dZ9.8001Z6."
    "670100001d200eZ9.04Z7.6901000003000fZ17.ffffffff24Z7."
    "ffffffffffffffff0300047cffffffff0f0c818080280008ff81"
    "80280881808028Z3.ffffffff2cZ23.8001Z6.0428Z3.0404Z3.0c81808028Z5.0cZ3.8cZ3."
    "d00700004e564944494120436f72700002Z7.01Z3.07Z3.36Z3.60Z4."
    "7074786173004375646120636f6d70696c6174696f6e20746f6f6c732c"
    "2072656c656173652031332e302c205631332e302e3838004275696c6420637564615f31332e302e7231332e302f63"
    "6f6d70696c65722e33363432343731345f30002d6172636820736d5f3930202d632020Z4.0cZ3.08Z3."
    "e80300004e56"
    "4944494120436f72700002005a0082Z3.042f080010Z3.0aZ3.0423080010Z7.0411080010Z7."
    "020900000202010002050500030701010203000002060100040b08Z9.0437040082Z3.04170cZ10."
    "f0210003500000031bff00035f010104"
    "1c0400a0Z3.03190800040a080012Z3.100208000436040008Z7.ffffffffZ4.feffffffZ4.fdffffffZ4."
    "fcffffff20Z7.39Z3.11Z11.10Z7.38Z3.11Z11.4cZ7.49Z3.10Z11.44Z7.02Z3.10Z11.3cZ7.02Z3.0eZ19."
    "827b01ff000aZ3."
    "08Z3.e20f00827804Z10.e20f00827805Z10.e20f00027c020004Z4.0f000800e40f00027c030005Z4."
    "0f000800e20f00b97a04000082Z3.0aZ3.c80f008179020204Z4.191e0c00a20e00827b04ff0084Z3.0aZ3."
    "220e001078070223Z3."
    "ffe0ff0700ca4f008679000407Z3.0419100c00e21f004d79Z8."
    "800300ea0f004779fc00fcffffffffff830300c00f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11."
    "c00f001879Z11.c00f001879Z11.c00f001879Z11.c0"
    "0f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11.c00f001879Z11.c00f0007Z607.01Z3.03Z19."
    "40Z7.0201Z14.01Z15.0bZ3.03Z19.6301Z6.7901Z14.01Z15.13Z3.02Z19.e002Z6.c801Z6.02Z3.13Z3.08Z7."
    "18Z7.a6"
    "Z3.01Z19.a804Z6.68Z15.01Z15.29Z3.07Z6.02Z12.1005Z6.a4Z15.04Z15.39Z3.07Z3.40000001Z12.b405Z6."
    "20Z7.05Z3.08Z3.04Z15.49Z6.70Z16.d405Z6.24Z7.03Z7.04Z15.52Z3.86000070Z16.f805Z6.24Z15.04Z15."
    "65Z6.70"
    "40Z15.1c06Z6.44Z7.03Z3.0dZ3.04Z15.d6Z3.01000070Z16.6006Z6.20Z7.03Z7.04Z7.08Z7.99Z3.04Z3.40Z15."
    "8006Z6.30Z7.03Z3.0dZ3.08Z7.18Z7.c4Z3.04Z3.40Z15.b006Z6.48Z7.03Z3.04Z3.08Z7.18Z7.5dZ3.01Z3."
    "06Z16."
    "07Z6.8001Z6.03Z3.10Z3.80Z15.7dZ3.0800007003Z15.8008Z6.04Z15.04Z15.f2Z3.6400007042Z15.8408Z6."
    "1802Z10.0dZ3.04Z15.";
static size_t unz(const char *s, unsigned char *o)
{
    size_t n = 0;
    while (*s) {
        if (*s == 'Z') {
            char *e;
            long k = strtol(s + 1, &e, 10);
            memset(o + n, 0, k);
            n += k;
            s = e + 1;
        } else {
            int v;
            sscanf(s, "%2x", &v);
            o[n++] = v;
            s += 2;
        }
    }
    return n;
}
static unsigned char bin[1 << 17],
    bin2[1 << 17]; // images lie at the start of a large zeroed buffer, so that reading past a
                   // truncated one finds zeros
static size_t img(const char *a, const char *b, const char *c)
{
    memset(bin, 0, sizeof bin);
    size_t n = unz(a, bin);
    if (b)
        n += unz(b, bin + n);
    if (c)
        n += unz(c, bin + n);
    return n;
}
static CUcontext cx;
static CUdeviceptr dm;
static CUmodule mod;
static CUfunction f_k0, f_k1, f_k2, f_store;
static const char *LIB =
    HEAD ".visible .global .align 4 .u32 gv=7;\n.visible .global .align 8 .b8 arr[100];\n.visible "
         ".const .align 4 .u32 cv[4]={1,2,3,4};\n.global .align 4 .u32 hidden=9;\n.visible .global "
         ".align 8 .u64 ptr=gv;\n.visible .global .align 1 .b8 one;\n.visible .global .texref "
         "tr;\n.visible .global .surfref sr;\n"
         ".visible .entry k0()\n{\nret;\n}\n"
         ".visible .entry k1(.param .u64 p)\n{\n.reg .b64 %x;\n.reg .b32 %r<3>;\nld.param.u64 "
         "%x,[p];\nld.global.u32 %r0,[gv];\nld.const.u32 %r1,[cv+4];\nadd.u32 "
         "%r0,%r0,%r1;\nst.global.u32 [%x],%r0;\nld.global.u32 %r2,[hidden];\nst.global.u32 "
         "[%x+4],%r2;\nret;\n}\n"
         ".visible .entry k2(.param .u32 a,.param .u64 b,.param .u8 c,.param .align 16 .b8 "
         "s[24])\n{\n.reg .b64 %x;\n.reg .b32 %r<4>;\nld.param.u32 %r0,[a];\nld.param.u64 "
         "%x,[b];\nld.param.u8 %r1,[c];\nld.param.u32 %r2,[s+20];\nst.global.u32 "
         "[%x],%r0;\nst.global.u32 [%x+4],%r1;\nst.global.u32 [%x+8],%r2;\nret;\n}\n"
         ".visible .entry store(.param .u64 p,.param .u32 v)\n{\n.reg .b64 %x;\n.reg .b32 "
         "%r;\nld.param.u64 %x,[p];\nld.param.u32 %r,[v];\nst.global.u32 [%x],%r;\nret;\n}\n"
         ".entry kstatic()\n{\nret;\n}\n.visible .func (.param .b32 r) devf(.param .b32 "
         "a)\n{\n.reg .b32 %q;\nld.param.b32 %q,[a];\nst.param.b32 [r],%q;\nret;\n}\n"
         ".visible .entry kreq()\n.reqntid 64,1,1\n{\nret;\n}\n.visible .entry kmax()\n.maxntid "
         "128\n{\nret;\n}\n";
static void ctx(void)
{
    cx = probe_ctx();
    MUST(cuMemAlloc(&dm, 1 << 20));
    MUST(cuMemsetD8(dm, 0, 1 << 20));
}
static void S(void)
{
    ctx();
    MUST(cuModuleLoadData(&mod, LIB));
    MUST(cuModuleGetFunction(&f_k0, mod, "k0"));
    MUST(cuModuleGetFunction(&f_k1, mod, "k1"));
    MUST(cuModuleGetFunction(&f_k2, mod, "k2"));
    MUST(cuModuleGetFunction(&f_store, mod, "store"));
}
static unsigned rd(unsigned off)
{
    unsigned v = 0xdead;
    CUresult r = cuMemcpyDtoH(&v, dm + off, 4);
    if (r)
        OUT("read %s ", R(r));
    return v;
}
static CUresult L1(CUfunction f, CUdeviceptr p)
{
    void *a[] = {&p};
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, a, 0);
}
static const char *outp(void *p)
{
    return !p ? "null" : p == (void *)0x5a ? "untouched" : "set";
}

// ---- loading ----
static char ilog[8192], elog[8192];
struct bad {
    const char *n, *t;
};
static const struct bad BAD[] = {
    {"empty-string", ""},
    {"space", " "},
    {"newline", "\n"},
    {"words", "this is not ptx\n"},
    {"only-comment", "// nothing\n"},
    {"unterminated-comment", HEAD "/* open\n"},
    {"header-only", HEAD},
    {"no-version", ".target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"no-target", ".version 8.0\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"no-address-size", ".version 8.0\n.target sm_90\n.visible .entry k()\n{\nret;\n}\n"},
    {"address-size-32",
     ".version 8.0\n.target sm_90\n.address_size 32\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-before-version", ".target sm_90\n.version 8.0\n.address_size 64\n"},
    {"version-1.0", ".version 1.0\n.target sm_10\n.visible .entry k()\n{\nexit;\n}\n"},
    {"version-2.3-sm_20",
     ".version 2.3\n.target sm_20\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"version-9.0",
     ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"version-9.1",
     ".version 9.1\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"version-9.2",
     ".version 9.2\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"version-99.0",
     ".version 99.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"version-8.9",
     ".version 8.9\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"version-0.0", ".version 0.0\n.target sm_90\n"},
    {"version-text", ".version x\n.target sm_90\n"},
    {"version-too-old-for-target",
     ".version 6.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-sm_999",
     ".version 8.0\n.target sm_999\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-sm_100",
     ".version 8.6\n.target sm_100\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-sm_120",
     ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-sm_90a",
     ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-sm_100a",
     ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-sm_100f",
     ".version 8.8\n.target sm_100f\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-sm_10",
     ".version 8.0\n.target sm_10\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-compute_90",
     ".version 8.0\n.target compute_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"target-word", ".version 8.0\n.target gpu\n.address_size 64\n"},
    {"target-sm_52-debug",
     ".version 8.0\n.target sm_52,debug\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"},
    {"missing-semicolon", HEAD ".visible .entry k()\n{\nret\n}\n"},
    {"missing-brace", HEAD ".visible .entry k()\n{\nret;\n"},
    {"unknown-instruction", HEAD ".visible .entry k()\n{\nfrobnicate.u32 1;\nret;\n}\n"},
    {"unknown-modifier",
     HEAD ".visible .entry k()\n{\n.reg .b32 %r;\nadd.wibble.u32 %r,%r,1;\nret;\n}\n"},
    {"undeclared-register", HEAD ".visible .entry k()\n{\nmov.u32 %r1,1;\nret;\n}\n"},
    {"undefined-label", HEAD ".visible .entry k()\n{\nbra NOWHERE;\n}\n"},
    {"label-twice", HEAD ".visible .entry k()\n{\nL:\nL:\nret;\n}\n"},
    {"type-mismatch",
     HEAD ".visible .entry k()\n{\n.reg .b32 %r;\n.reg .b64 %x;\nadd.u32 %r,%x,1;\nret;\n}\n"},
    {"float-int-mismatch",
     HEAD ".visible .entry k()\n{\n.reg .f32 %f;\nadd.s32 %f,%f,1;\nret;\n}\n"},
    {"register-twice", HEAD ".visible .entry k()\n{\n.reg .b32 %r;\n.reg .b32 %r;\nret;\n}\n"},
    {"entry-twice", HEAD ".visible .entry k()\n{\nret;\n}\n.visible .entry k()\n{\nret;\n}\n"},
    {"global-twice", HEAD ".visible .global .u32 g;\n.visible .global .u32 g;\n"},
    {"undefined-variable",
     HEAD ".visible .entry k()\n{\n.reg .b32 %r;\nld.global.u32 %r,[nosuch];\nret;\n}\n"},
    {"unresolved-extern-function",
     HEAD ".extern .func nosuch();\n.visible .entry k()\n{\ncall nosuch;\nret;\n}\n"},
    {"unresolved-extern-variable",
     HEAD ".extern .global .u32 nosuch;\n.visible .entry k()\n{\n.reg .b32 %r;\nld.global.u32 "
          "%r,[nosuch];\nst.global.u32 [nosuch],%r;\nret;\n}\n"},
    {"unresolved-extern-unused",
     HEAD ".extern .global .u32 nosuch;\n.visible .entry k()\n{\nret;\n}\n"},
    {"call-undeclared", HEAD ".visible .entry k()\n{\ncall nosuch;\nret;\n}\n"},
    {"instruction-newer-than-version",
     ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 "
     "%r;\nredux.sync.add.u32 %r,%r,-1;\nret;\n}\n"},
    {"instruction-newer-than-target",
     ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 "
     "%r;\nredux.sync.add.u32 %r,%r,-1;\nret;\n}\n"},
    {"instruction-of-sm_100", ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry "
                              "k()\n{\n.reg .f32 %f<4>;\nmax.f32 %f0,%f1,%f2,%f3;\nret;\n}\n"},
    {"static-shared-48K", HEAD ".visible .entry k()\n{\n.shared .b8 s[49152];\n.reg .b32 "
                               "%r;\nst.volatile.shared.u8 [s+5],1;\nret;\n}\n"},
    {"static-shared-48K+1", HEAD
     ".visible .entry k()\n{\n.shared .b8 s[49153];\nst.volatile.shared.u8 [s+5],1;\nret;\n}\n"},
    {"static-shared-300K", HEAD
     ".visible .entry k()\n{\n.shared .b8 s[307200];\nst.volatile.shared.u8 [s+5],1;\nret;\n}\n"},
    {"const-64K", HEAD ".visible .const .b8 c[65536];\n.visible .entry k()\n{\nret;\n}\n"},
    {"const-64K+1",
     HEAD ".visible .const .b8 c[65537];\n.visible .entry k()\n{\n.reg .b32 %r;\n.shared .u32 "
          "s;\nld.const.u8 %r,[c+65536];\nst.volatile.shared.u32 [s],%r;\nret;\n}\n"},
    {"param-4352", HEAD ".visible .entry k(.param .b8 p[4352])\n{\nret;\n}\n"},
    {"param-32764", HEAD ".visible .entry k(.param .b8 p[32764])\n{\nret;\n}\n"},
    {"param-32764-version-8.1", ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry "
                                "k(.param .b8 p[32764])\n{\nret;\n}\n"},
    {"param-32765-version-8.1", ".version 8.1\n.target sm_90\n.address_size 64\n.visible .entry "
                                "k(.param .b8 p[32765])\n{\nret;\n}\n"},
    {"param-32765", HEAD ".visible .entry k(.param .b8 p[32765])\n{\nret;\n}\n"},
    {"param-4353-version-8.0", HEAD ".visible .entry k(.param .b8 p[4353])\n{\nret;\n}\n"},
    {"local-600K", HEAD ".visible .entry k()\n{\n.local .b8 l[614400];\n.reg .b64 %x;\nmov.u64 "
                        "%x,l;\ncvta.local.u64 %x,%x;\nst.volatile.u8 [%x+5],1;\nret;\n}\n"},
    {"global-64M", HEAD ".visible .global .b8 g[67108864];\n.visible .entry k()\n{\nret;\n}\n"},
    {"entry-with-return", HEAD ".visible .entry (.param .b32 r) k()\n{\nret;\n}\n"},
    {"maxntid-2048", HEAD ".visible .entry k()\n.maxntid 2048\n{\nret;\n}\n"},
    {"reqntid-0", HEAD ".visible .entry k()\n.reqntid 0\n{\nret;\n}\n"},
    {"non-ascii", HEAD "// \xc3\xa9\n.visible .entry k()\n{\nret;\n}\n"},
    {"non-ascii-name", HEAD ".visible .entry k\xc3\xa9()\n{\nret;\n}\n"},
    {"bom", "\xef\xbb\xbf" HEAD ".visible .entry k()\n{\nret;\n}\n"},
    {"leading-newlines", "\n\n\n" HEAD ".visible .entry k()\n{\nret;\n}\n"},
    {"leading-comment", "// generated\n//\n" HEAD ".visible .entry k()\n{\nret;\n}\n"},
    {"crlf", ".version 8.0\r\n.target sm_90\r\n.address_size 64\r\n.visible .entry "
             "k()\r\n{\r\nret;\r\n}\r\n"},
    {"unknown-directive", HEAD ".wibble 3\n.visible .entry k()\n{\nret;\n}\n"},
    {"entry-named-like-register", HEAD ".visible .entry %k()\n{\nret;\n}\n"},
    {"string-in-global", HEAD ".visible .global .b8 s[3]=\"ab\";\n"},
    {"initialiser-too-long",
     HEAD ".visible .global .u32 g[2]={1,2,3};\n.visible .entry k()\n{\nret;\n}\n"},
    {"initialised-shared", HEAD ".visible .entry k()\n{\n.shared .u32 s=3;\nret;\n}\n"},
    {"division-of-registers-in-expression",
     HEAD ".visible .entry k()\n{\n.reg .b32 %r;\nmov.u32 %r,%r+%r;\nret;\n}\n"}};
// four texts to a case: loaded without options, then with an error log
GROUP(load_ptx)
{
    ctx();
    const unsigned N = sizeof BAD / sizeof *BAD;
    for (unsigned g = 0; g < N; g += 4)
        CASE("%s-and-next", BAD[g].n) for (unsigned i = g; i < g + 4 && i < N; i++)
        {
            OUT("%s%s: ", i > g ? " || " : "", BAD[i].n);
            CUmodule m = (CUmodule)0x5a;
            CUresult r = cuModuleLoadData(&m, BAD[i].t);
            OUT("%s", R(r));
            OUT(" %s", outp(m));
            if (!r) {
                CUfunction f;
                unsigned n = 77;
                OUT(" count %s", R(cuModuleGetFunctionCount(&n, m)));
                do {
                    OUT(" %u", n);
                    OUT(" k %s", R(cuModuleGetFunction(&f, m, "k")));
                } while (0);
                cuModuleUnload(m);
            }
            CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
            void *v[] = {elog, (void *)4096};
            memset(elog, 0, sizeof elog);
            r = cuModuleLoadDataEx(&m, BAD[i].t, 2, o, v);
            OUT("; with log %s", R(r));
            OUT(" log %s", elog[0] ? "written" : "empty");
            if (!r)
                cuModuleUnload(m);
        }
}
GROUP(load_binary)
{
    ctx();
    CUmodule m;
    CUfunction f;
    size_t n;
#define TRY(call)                                                                                  \
    do {                                                                                           \
        m = (CUmodule)0x5a;                                                                        \
        CUresult t_ = (call);                                                                      \
        do {                                                                                       \
            OUT("%s", R(t_));                                                                      \
            OUT(" %s", outp(m));                                                                   \
        } while (0);                                                                               \
        if (!t_) {                                                                                 \
            OUT(" k %s", R(cuModuleGetFunction(&f, m, "k")));                                      \
            unsigned c_ = 0;                                                                       \
            cuModuleGetFunctionCount(&c_, m);                                                      \
            OUT(" of %u", c_);                                                                     \
            CUresult l_ = L1(f, dm);                                                               \
            OUT(" launch %s", R(l_));                                                              \
            l_ = cuCtxSynchronize();                                                               \
            do {                                                                                   \
                OUT(" sync %s", R(l_));                                                            \
                OUT(" value %u", rd(0));                                                           \
            } while (0);                                                                           \
            cuModuleUnload(m);                                                                     \
        }                                                                                          \
    } while (0)
#define TRYN(call)                                                                                 \
    do {                                                                                           \
        m = (CUmodule)0x5a;                                                                        \
        CUresult t_ = (call);                                                                      \
        do {                                                                                       \
            OUT("%s", R(t_));                                                                      \
            OUT(" %s", outp(m));                                                                   \
        } while (0);                                                                               \
        if (!t_) {                                                                                 \
            OUT(" k %s", R(cuModuleGetFunction(&f, m, "k")));                                      \
            cuModuleUnload(m);                                                                     \
        }                                                                                          \
    } while (0) // a damaged image is never launched
    CASE("null-image") TRY(cuModuleLoadData(&m, 0));
    CASE("null-module") do
    {
        OUT("%s", R(cuModuleLoadData(0, LIB)));
        OUT("; null both %s", R(cuModuleLoadData(0, 0)));
        OUT("; bad text %s", R(cuModuleLoadData(0, "x")));
    }
    while (0)
        ;
    CASE("zeros")
    {
        memset(bin, 0, sizeof bin);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("ones")
    {
        memset(bin, 0xff, sizeof bin);
        bin[sizeof bin - 1] = 0;
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("elf-magic-only")
    {
        img("7f454c46", 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("elf-magic-then-text")
    {
        img("7f454c46", 0, 0);
        strcpy((char *)bin + 4, "hello world, not an object");
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("fatbin-magic-only")
    {
        img("50ed55ba", 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("fatbin-header-no-images")
    {
        img("50ed55ba01001000Z8.", 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("fatbin-wrapper-magic")
    {
        img("b1436246Z20.", 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("x86-elf")
    {
        int fd = open("/proc/self/exe", O_RDONLY);
        memset(bin, 0, sizeof bin);
        if (read(fd, bin, 65536) < 0)
            OUT("read ");
        close(fd);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("cubin-sm_90")
    {
        img(CUBIN90, 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("cubin-sm_75")
    {
        img(CUBIN75, 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("fatbin-cubin-sm_90")
    {
        img(FAT90, CUBIN90, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("fatbin-cubin-sm_75-only")
    {
        img(FAT75, CUBIN75, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("fatbin-ptx")
    {
        img(FATPTX, 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("fatbin-ptx-compressed")
    {
        img(FATPTXZ, 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("fatbin-cubin-sm_75-and-ptx")
    {
        img(FATBOTH_A, CUBIN75, FATBOTH_B);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("relocatable-object")
    {
        img(RELOC90, 0, 0);
        TRY(cuModuleLoadData(&m, bin));
    }
    CASE("unaligned-fatbin-ptx")
    {
        n = img(FATPTX, 0, 0);
        memmove(bin + 3, bin, n);
        TRY(cuModuleLoadData(&m, bin + 3));
    }
    CASE("loadfatbinary-ptx")
    {
        img(FATPTX, 0, 0);
        TRY(cuModuleLoadFatBinary(&m, bin));
    }
    CASE("loadfatbinary-cubin")
    {
        img(CUBIN90, 0, 0);
        TRY(cuModuleLoadFatBinary(&m, bin));
    }
    CASE("loadfatbinary-of-ptx-text") TRY(cuModuleLoadFatBinary(&m, LIB));
    CASE("loadfatbinary-nulls") do
    {
        OUT("%s", R(cuModuleLoadFatBinary(&m, 0)));
        OUT(" %s", R(cuModuleLoadFatBinary(0, bin)));
    }
    while (0)
        ;
    CASE("fatbin-wrapper")
    {
        struct {
            int magic, version;
            const void *data;
            void *f;
        } w = {0x466243b1, 1, bin2, 0};
        n = img(FATPTX, 0, 0);
        memcpy(bin2, bin, n);
        TRY(cuModuleLoadData(&m, &w));
    }
    EACH(k, 8, 16, 52, 64, 100, 512, 1024, 2048, 3000, 4000, 4079) CASE("cubin-truncated-to-%d", *k)
    {
        n = img(CUBIN90, 0, 0);
        memset(bin + *k, 0, n - *k);
        TRYN(cuModuleLoadData(&m, bin));
    }
    EACH(k, 8, 16, 40, 80, 100, 144, 1000, 4000) CASE("fatbin-truncated-to-%d", *k)
    {
        n = img(FAT90, CUBIN90, 0);
        memset(bin + *k, 0, n - *k);
        TRYN(cuModuleLoadData(&m, bin));
    }
    EACH(k, 16, 40, 80, 100, 200, 340) CASE("fatbin-ptx-truncated-to-%d", *k)
    {
        n = img(FATPTX, 0, 0);
        memset(bin + *k, 0, n - *k);
        TRYN(cuModuleLoadData(&m, bin));
    }
    static const struct {
        const char *n;
        int off;
        unsigned char v;
    } mu[] = {{"class-32", 4, 1},         {"big-endian", 5, 2},
              {"elf-version", 6, 9},      {"osabi", 7, 0},
              {"abi-version", 8, 99},     {"type", 16, 9},
              {"machine", 18, 62},        {"flags-arch", 48, 0},
              {"flags-arch-2", 49, 0x63}, {"section-offset", 41, 0xff},
              {"section-count", 60, 0xff}};
    for (unsigned g = 0; g < sizeof mu / sizeof *mu; g += 3)
        CASE("cubin-header-%s-and-next", mu[g].n)
        for (unsigned i = g; i < g + 3 && i < sizeof mu / sizeof *mu; i++)
        {
            OUT("%s: ", mu[i].n);
            img(CUBIN90, 0, 0);
            bin[mu[i].off] = mu[i].v;
            TRYN(cuModuleLoadData(&m, bin));
            OUT("; ");
        }
    static const struct {
        const char *n;
        int off;
        unsigned char v;
    } fu[] = {
        {"version", 4, 9},      {"header-size", 6, 0x20},       {"total-size", 8, 4},
        {"image-kind", 16, 9},  {"image-version", 18, 9},       {"image-header-size", 20, 0x10},
        {"image-arch", 44, 75}, {"image-arch-higher", 44, 100}, {"image-flags", 56, 0}};
    for (unsigned g = 0; g < sizeof fu / sizeof *fu; g += 3)
        CASE("fatbin-ptx-header-%s-and-next", fu[g].n)
        for (unsigned i = g; i < g + 3 && i < sizeof fu / sizeof *fu; i++)
        {
            OUT("%s: ", fu[i].n);
            img(FATPTX, 0, 0);
            bin[fu[i].off] = fu[i].v;
            TRYN(cuModuleLoadData(&m, bin));
            OUT("; ");
        }
}
GROUP(load_file)
{
    ctx();
    CUmodule m;
    CUfunction f;
    char d[64], p[96];
    snprintf(d, 64, "/tmp/xm-%d", (int)getpid());
    mkdir(d, 0700);
    snprintf(p, 96, "%s/a", d);
#define FILEOF(b, n)                                                                               \
    do {                                                                                           \
        int fd = open(p, O_CREAT | O_TRUNC | O_WRONLY, 0600);                                      \
        if (write(fd, b, n) < 0)                                                                   \
            OUT("write ");                                                                         \
        close(fd);                                                                                 \
    } while (0)
    CASE("nulls") do
    {
        OUT("name %s", R(cuModuleLoad(&m, 0)));
        OUT(" module %s", R(cuModuleLoad(0, p)));
        OUT(" both %s", R(cuModuleLoad(0, 0)));
    }
    while (0)
        ;
    CASE("missing") TRY(cuModuleLoad(&m, "/nonexistent/x.ptx"));
    CASE("empty-name") TRY(cuModuleLoad(&m, ""));
    CASE("directory") TRY(cuModuleLoad(&m, d));
    CASE("empty-file")
    {
        FILEOF("", 0);
        TRY(cuModuleLoad(&m, p));
    }
    CASE("ptx")
    {
        size_t n = img(FATPTX, 0, 0);
        (void)n;
        FILEOF((char *)bin + 96, 260);
        TRY(cuModuleLoad(&m, p));
    }
    CASE("fatbin")
    {
        size_t n = img(FATPTX, 0, 0);
        FILEOF(bin, n);
        TRY(cuModuleLoad(&m, p));
    }
    CASE("cubin")
    {
        size_t n = img(CUBIN90, 0, 0);
        FILEOF(bin, n);
        TRY(cuModuleLoad(&m, p));
    }
    CASE("truncated-cubin")
    {
        img(CUBIN90, 0, 0);
        FILEOF(bin, 1000);
        TRYN(cuModuleLoad(&m, p));
    }
    CASE("garbage")
    {
        FILEOF("garbage", 7);
        TRY(cuModuleLoad(&m, p));
    }
    CASE("library-file")
    {
        size_t n = img(FATPTX, 0, 0);
        FILEOF(bin, n);
        CUlibrary l = 0;
        do {
            OUT("%s", R(cuLibraryLoadFromFile(&l, p, 0, 0, 0, 0, 0, 0)));
            OUT(" missing %s", R(cuLibraryLoadFromFile(&l, "/nonexistent/x", 0, 0, 0, 0, 0, 0)));
            OUT(" null %s", R(cuLibraryLoadFromFile(&l, 0, 0, 0, 0, 0, 0, 0)));
        } while (0);
    }
    unlink(p);
    rmdir(d);
}

// ---- JIT options ----
// options that take pointers or counts have a case each, the others share one in fours
static int risky(int id)
{
    return id == 3 || id == 5 || (id >= 17 && id <= 19) || (id >= 25 && id <= 28);
}
static int opt_open;
static int OPTION(int id, int g, int alone)
{
    if (risky(id) != alone)
        return 0;
    if (alone)
        return opt_open = probe_begin("option-%d", id);
    int first = 1;
    for (int k = g; k < id; k++)
        if (!risky(k))
            first = 0;
    if (first)
        opt_open = probe_begin("options-from-%d", g);
    else if (opt_open)
        OUT("; ");
    return opt_open;
}
GROUP(jit_options)
{
    ctx();
    CUmodule m;
    static const char
        *GOOD = HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\nld.param.u64 "
                     "%x,[p];\nst.global.u32 [%x],5;\nret;\n}\n",
        *BADP = HEAD ".visible .entry k()\n{\nfrob;\nret;\n}\n",
        *WARN = HEAD
        ".extern .global .u32 g;\n.visible .global .u32 g=8;\n.visible .entry k()\n{\nret;\n}\n";
    for (int g = -1; g < 36; g += 4)
        for (int alone = 0; alone < 2; alone++)
            for (int id = g; id < g + 4; id++)
                if (!OPTION(id, g, alone))
                    continue;
                else {
                    OUT("%d: ", id);
                    static const char *names[1] = {"x"};
                    static void *addr[1];
                    for (int k = 0; k < 3; k++) {
                        CUjit_option o = id;
                        uintptr_t v = k == 0 ? 0 : k == 1 ? 1 : 77777;
                        if (id == 3 || id == 5)
                            v = k == 0 ? 0 : (uintptr_t)ilog;
                        if (id == 17 || id == 25 || id == 27)
                            v = k ? (uintptr_t)names : 0;
                        if (id == 18)
                            v = k ? (uintptr_t)addr : 0;
                        void *p = (void *)v;
                        m = (CUmodule)0x5a;
                        CUresult r = cuModuleLoadDataEx(&m, GOOD, 1, &o, &p);
                        do {
                            OUT("%s", k ? " " : "");
                            OUT("%s", R(r));
                        } while (0);
                        if (!r)
                            cuModuleUnload(m);
                    }
                }
    CASE("nulls")
    {
        CUjit_option o = CU_JIT_LOG_VERBOSE;
        void *v = 0;
        do {
            OUT("none %s", R(cuModuleLoadDataEx(&m, GOOD, 0, 0, 0)));
            OUT("; null options %s", R(cuModuleLoadDataEx(&m, GOOD, 1, 0, &v)));
            OUT("; null values %s", R(cuModuleLoadDataEx(&m, GOOD, 1, &o, 0)));
            OUT("; null module %s", R(cuModuleLoadDataEx(0, GOOD, 0, 0, 0)));
            OUT("; null image %s", R(cuModuleLoadDataEx(&m, 0, 0, 0, 0)));
            OUT("; count 0 with arrays %s", R(cuModuleLoadDataEx(&m, GOOD, 0, &o, &v)));
        } while (0);
    }
    for (int c = 0; c < 6; c++)
        CASE("logs-%s", (const char *[]){"good", "bad", "warning", "good-verbose", "bad-verbose",
                                         "bad-1-byte"}[c])
        {
            memset(ilog, 0, sizeof ilog);
            memset(elog, 0, sizeof elog);
            uintptr_t sz = c == 5 ? 1 : 4000;
            CUjit_option o[] = {CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                                CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                CU_JIT_LOG_VERBOSE,      CU_JIT_WALL_TIME};
            void *v[] = {ilog, (void *)sz, elog, (void *)sz, (void *)(uintptr_t)(c == 3 || c == 4),
                         0};
            m = 0;
            const char *t = c == 0 || c == 3 ? GOOD : c == 2 ? WARN : BADP;
            CUresult r = cuModuleLoadDataEx(&m, t, 6, o, v);
            do {
                OUT("%s", R(r));
                OUT(" info %s", ilog[0] ? "written" : "empty");
                OUT(" size %s", (uintptr_t)v[1] == sz ? "unchanged"
                                : (uintptr_t)v[1]     ? "set"
                                                      : "0");
                OUT(" error %s", elog[0] ? "written" : "empty");
                OUT(" size %s", (uintptr_t)v[3] == sz ? "unchanged"
                                : (uintptr_t)v[3]     ? "set"
                                                      : "0");
                OUT("; within size %d", strlen(ilog) < sz);
                OUT(" %d", strlen(elog) < sz);
            } while (0);
            do {
                OUT("; sizes match strings %d",
                    (uintptr_t)v[1] == strlen(ilog) || (uintptr_t)v[1] == strlen(ilog) + 1);
                OUT(" %d", (uintptr_t)v[3] == strlen(elog) || (uintptr_t)v[3] == strlen(elog) + 1);
            } while (0);
            float w;
            memcpy(&w, &v[5], 4);
            OUT("; wall time nonnegative %d", w >= 0);
        }
    CASE("log-size-without-buffer")
    {
        CUjit_option o = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
        void *v = (void *)4000;
        OUT("%s", R(cuModuleLoadDataEx(&m, BADP, 1, &o, &v)));
        OUT(" good %s", R(cuModuleLoadDataEx(&m, GOOD, 1, &o, &v)));
    }
    CASE("log-buffer-without-size")
    {
        CUjit_option o = CU_JIT_ERROR_LOG_BUFFER;
        void *v = elog;
        memset(elog, 0, 64);
        OUT("%s", R(cuModuleLoadDataEx(&m, BADP, 1, &o, &v)));
        OUT(" %s", elog[0] ? "written" : "empty");
    }
    CASE("error-log-mentions-line")
    {
        memset(elog, 0, sizeof elog);
        CUjit_option o[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *v[] = {elog, (void *)4000};
        cuModuleLoadDataEx(&m, BADP, 2, o, v);
        do {
            OUT("frob %d", strstr(elog, "frob") != 0);
            OUT(" line 6 %d", strstr(elog, "line 6") != 0);
            OUT(" ptxas %d", strstr(elog, "ptxas") != 0);
        } while (0);
    }
    CASE("target-and-threads-per-block")
    {
        CUjit_option o[] = {CU_JIT_TARGET, CU_JIT_THREADS_PER_BLOCK};
        void *v[] = {(void *)90, (void *)256};
        OUT("%s", R(cuModuleLoadDataEx(&m, GOOD, 2, o, v)));
    }
    CASE("targets") EACH(t, 0, 30, 75, 80, 89, 90, 100, 120, 999)
    {
        CUjit_option o = CU_JIT_TARGET;
        void *v = (void *)(uintptr_t)*t;
        do {
            OUT("%d", *t);
            OUT(": %s ", R(cuModuleLoadDataEx(&m, GOOD, 1, &o, &v)));
        } while (0);
    }
    CASE("optimisation") EACH(t, 0, 1, 2, 3, 4, 5, 100)
    {
        CUjit_option o = CU_JIT_OPTIMIZATION_LEVEL;
        void *v = (void *)(uintptr_t)*t;
        m = 0;
        do {
            OUT(" %d", *t);
            OUT(": %s", R(cuModuleLoadDataEx(&m, GOOD, 1, &o, &v)));
        } while (0);
        if (m) {
            CUfunction f;
            cuModuleGetFunction(&f, m, "k");
            cuMemsetD8(dm, 0, 4);
            L1(f, dm);
            OUT(" %u", rd(0));
        }
    }
    CASE("max-registers") EACH(t, 0, 1, 16, 32, 255, 256, 1000)
    {
        CUjit_option o = CU_JIT_MAX_REGISTERS;
        void *v = (void *)(uintptr_t)*t;
        do {
            OUT("%d", *t);
            OUT(": %s ", R(cuModuleLoadDataEx(&m, GOOD, 1, &o, &v)));
        } while (0);
    }
    CASE("threads-per-block") EACH(t, 0, 1, 32, 1024, 1025, 4096)
    {
        CUjit_option o = CU_JIT_THREADS_PER_BLOCK;
        void *v = (void *)(uintptr_t)*t;
        do {
            OUT(" %d", *t);
            OUT(": %s", R(cuModuleLoadDataEx(&m, GOOD, 1, &o, &v)));
        } while (0);
        OUT(" out %s", (uintptr_t)v == (uintptr_t)*t ? "same" : "changed");
    }
    CASE("same-option-twice")
    {
        CUjit_option o[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_OPTIMIZATION_LEVEL};
        void *v[] = {(void *)1, (void *)4};
        OUT("%s", R(cuModuleLoadDataEx(&m, GOOD, 2, o, v)));
    }
    CASE("bad-option-and-bad-ptx")
    {
        CUjit_option o = 9999;
        void *v = 0;
        do {
            OUT("%s", R(cuModuleLoadDataEx(&m, BADP, 1, &o, &v)));
            OUT(" good ptx %s", R(cuModuleLoadDataEx(&m, GOOD, 1, &o, &v)));
            OUT(" null image %s", R(cuModuleLoadDataEx(&m, 0, 1, &o, &v)));
        } while (0);
    }
    CASE("global-symbol-addresses")
    {
        static unsigned hv = 77;
        const char *n[1] = {"ext"};
        void *ad[1];
        CUdeviceptr dp = dm + 512;
        ad[0] = (void *)dp;
        (void)hv;
        CUjit_option o[] = {CU_JIT_GLOBAL_SYMBOL_NAMES, CU_JIT_GLOBAL_SYMBOL_ADDRESSES,
                            CU_JIT_GLOBAL_SYMBOL_COUNT};
        void *v[] = {n, ad, (void *)1};
        cuMemsetD32(dm + 512, 4242, 1);
        m = 0;
        OUT("%s", R(cuModuleLoadDataEx(
                      &m,
                      HEAD ".extern .global .u32 ext;\n.visible .entry k(.param .u64 p)\n{\n.reg "
                           ".b64 %x;\n.reg .b32 %r;\nld.param.u64 %x,[p];\nld.global.u32 "
                           "%r,[ext];\nst.global.u32 [%x],%r;\nret;\n}\n",
                      3, o, v)));
        if (m) {
            CUfunction f;
            cuModuleGetFunction(&f, m, "k");
            OUT(" launch %s", R(L1(f, dm)));
            OUT(" %u", rd(0));
        }
    }
    CASE("options-with-cubin")
    {
        CUjit_option o[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_MAX_REGISTERS};
        void *v[] = {(void *)1, (void *)16};
        img(CUBIN90, 0, 0);
        OUT("%s", R(cuModuleLoadDataEx(&m, bin, 2, o, v)));
    }
}

// ---- names and handles ----
GROUP(lookup)
{
    S();
    CUfunction f, fs[32];
    CUdeviceptr p;
    size_t z, off;
    unsigned n;
    CUmodule m2;
    const char *nm;
    CUtexref tr;
    CUsurfref sr;
    static const char *fnames[] = {"k0", "k1",  "kstatic", "devf", "K0",  "k",
                                   "",   "k0 ", "gv",      "_k0",  "kreq"};
    CASE("functions") for (int i = 0; i < 11; i++)
    {
        f = (CUfunction)0x5a;
        do {
            OUT("\"%s", fnames[i]);
            OUT("\": %s", R(cuModuleGetFunction(&f, mod, fnames[i])));
        } while (0);
        OUT(" %s; ", outp(f));
    }
    CASE("function-nulls")
    {
        W("out", cuModuleGetFunction(0, mod, "k0"));
        W("module", cuModuleGetFunction(&f, 0, "k0"));
        W("name", cuModuleGetFunction(&f, mod, 0));
        W("out and unknown name", cuModuleGetFunction(0, mod, "zz"));
        W("module and null name", cuModuleGetFunction(&f, 0, 0));
    }
    CASE("function-twice")
    {
        CUfunction a = 0, b = (void *)1;
        cuModuleGetFunction(&a, mod, "k0");
        cuModuleGetFunction(&b, mod, "k0");
        OUT("same %d", a == b);
    }
    static const char *gn[] = {"gv", "arr", "cv", "hidden", "ptr", "one", "tr", "nosuch", "", "k0"};
    for (int g = 0; g < 10; g += 5)
        CASE("globals-%d", g / 5) for (int i = g; i < g + 5; i++)
        {
            p = 0x5a;
            z = 77;
            do {
                OUT("\"%s", gn[i]);
                OUT("\": %s", R(cuModuleGetGlobal(&p, &z, mod, gn[i])));
            } while (0);
            do {
                OUT(" bytes %zu", z);
                OUT(" %s", p == 0x5a ? "untouched" : p ? "set" : "zero");
                OUT(", size only %s", R(cuModuleGetGlobal(0, &z, mod, gn[i])));
                OUT(", pointer only %s; ", R(cuModuleGetGlobal(&p, 0, mod, gn[i])));
            } while (0);
        }
    CASE("global-alignment")
    {
        cuModuleGetGlobal(&p, &z, mod, "arr");
        OUT("arr %% 8 = %d", (int)(p % 8));
        cuModuleGetGlobal(&p, &z, mod, "gv");
        OUT(" gv %% 4 = %d", (int)(p % 4));
    }
    CASE("global-nulls")
    {
        W("both outs", cuModuleGetGlobal(0, 0, mod, "gv"));
        W("both outs unknown name", cuModuleGetGlobal(0, 0, mod, "zz"));
        W("module", cuModuleGetGlobal(&p, &z, 0, "gv"));
        W("name", cuModuleGetGlobal(&p, &z, mod, 0));
    }
    CASE("texref")
    {
        do {
            OUT("%s", R(cuModuleGetTexRef(&tr, mod, "tr")));
            OUT(" unknown %s", R(cuModuleGetTexRef(&tr, mod, "zz")));
            OUT(" null out %s", R(cuModuleGetTexRef(0, mod, "tr")));
            OUT(" null name %s", R(cuModuleGetTexRef(&tr, mod, 0)));
            OUT(" surfref %s", R(cuModuleGetSurfRef(&sr, mod, "sr")));
            OUT(" unknown %s", R(cuModuleGetSurfRef(&sr, mod, "zz")));
        } while (0);
        OUT("; a global as texref %s", R(cuModuleGetTexRef(&tr, mod, "gv")));
    }
    CASE("count")
    {
        n = 77;
        OUT("%s", R(cuModuleGetFunctionCount(&n, mod)));
        do {
            OUT(" %u", n);
            OUT("; null out %s", R(cuModuleGetFunctionCount(0, mod)));
            OUT(" null module %s", R(cuModuleGetFunctionCount(&n, 0)));
        } while (0);
    }
    CASE("enumerate")
    {
        memset(fs, 0, sizeof fs);
        OUT("%s", R(cuModuleEnumerateFunctions(fs, 32, mod)));
        int k = 0, distinct = 1;
        for (int i = 0; i < 32; i++)
            if (fs[i]) {
                k++;
                for (int j = 0; j < i; j++)
                    if (fs[j] == fs[i])
                        distinct = 0;
            }
        OUT(" %d distinct %d holds k1 ", k, distinct);
        int has = 0;
        for (int i = 0; i < 32; i++)
            has |= fs[i] == f_k1;
        OUT("%d", has);
    }
    CASE("enumerate-names-sorted")
    {
        char *ns[32];
        int k = 0;
        memset(fs, 0, sizeof fs);
        cuModuleEnumerateFunctions(fs, 32, mod);
        for (int i = 0; i < 32; i++)
            if (fs[i] && !cuFuncGetName(&nm, fs[i]))
                ns[k++] = strdup(nm);
        for (int i = 0; i < k; i++)
            for (int j = i + 1; j < k; j++)
                if (strcmp(ns[i], ns[j]) > 0) {
                    char *t = ns[i];
                    ns[i] = ns[j];
                    ns[j] = t;
                }
        for (int i = 0; i < k; i++)
            OUT("%s ", ns[i]);
    }
    CASE("enumerate-few")
    {
        memset(fs, 0, sizeof fs);
        OUT("%s", R(cuModuleEnumerateFunctions(fs, 2, mod)));
        do {
            OUT(" %d", fs[1] != 0);
            OUT(" %d", fs[2] == 0);
            OUT("; zero %s", R(cuModuleEnumerateFunctions(fs, 0, mod)));
            OUT(" null %s", R(cuModuleEnumerateFunctions(0, 2, mod)));
            OUT(" null module %s", R(cuModuleEnumerateFunctions(fs, 2, 0)));
        } while (0);
    }
    CASE("func-name")
    {
        nm = 0;
        OUT("%s", R(cuFuncGetName(&nm, f_k2)));
        do {
            OUT(" %s", nm ? nm : "(null)");
            OUT("; null out %s", R(cuFuncGetName(0, f_k2)));
            OUT(" null function %s", R(cuFuncGetName(&nm, 0)));
        } while (0);
    }
    CASE("func-module")
    {
        m2 = 0;
        OUT("%s", R(cuFuncGetModule(&m2, f_k2)));
        do {
            OUT(" same %d", m2 == mod);
            OUT("; null out %s", R(cuFuncGetModule(0, f_k2)));
            OUT(" null function %s", R(cuFuncGetModule(&m2, 0)));
        } while (0);
    }
    CASE("k2-params") for (int i = 0; i < 6; i++)
    {
        off = z = 777;
        do {
            OUT("%d", i);
            OUT(": %s", R(cuFuncGetParamInfo(f_k2, i, &off, &z)));
        } while (0);
        OUT(" offset %zu size %zu; ", off, z);
    }
    CASE("param-info-errors")
    {
        W("no parameters", cuFuncGetParamInfo(f_k0, 0, &off, &z));
        W("null size", cuFuncGetParamInfo(f_k2, 0, &off, 0));
        W("null offset", cuFuncGetParamInfo(f_k2, 0, 0, &z));
        W("null function", cuFuncGetParamInfo(0, 0, &off, &z));
        W("huge index", cuFuncGetParamInfo(f_k2, (size_t)-1, &off, &z));
        W("huge index, null offset", cuFuncGetParamInfo(f_k2, 99, 0, &z));
    }
    CASE("func-loaded")
    {
        CUfunctionLoadingState st = 77;
        CUfunction g;
        cuModuleGetFunction(&g, mod, "kmax");
        OUT("%s", R(cuFuncIsLoaded(&st, g)));
        do {
            OUT(" %d", st);
            OUT(" load %s", R(cuFuncLoad(g)));
        } while (0);
        st = 77;
        OUT(" %s", R(cuFuncIsLoaded(&st, g)));
        do {
            OUT(" %d", st);
            OUT("; null out %s", R(cuFuncIsLoaded(0, g)));
            OUT(" null function %s", R(cuFuncIsLoaded(&st, 0)));
            OUT(" load null %s", R(cuFuncLoad(0)));
        } while (0);
    }
    CASE("load-twice-independent")
    {
        CUmodule a, b;
        CUdeviceptr pa, pb;
        cuModuleLoadData(&a, LIB);
        cuModuleLoadData(&b, LIB);
        cuModuleGetGlobal(&pa, &z, a, "gv");
        cuModuleGetGlobal(&pb, &z, b, "gv");
        unsigned v = 99, w = 0;
        cuMemcpyHtoD(pa, &v, 4);
        cuMemcpyDtoH(&w, pb, 4);
        do {
            OUT("modules differ %d", a != b);
            OUT(" globals differ %d", pa != pb);
            OUT(" value %u", w);
            OUT(" unload %s", R(cuModuleUnload(a)));
        } while (0);
        cuMemcpyDtoH(&w, pb, 4);
        OUT(" still %u", w);
    }
    CASE("unload-null") OUT("%s", R(cuModuleUnload(0)));
    CASE("unload-frees-global")
    {
        CUmodule a;
        cuModuleLoadData(&a, LIB);
        cuModuleGetGlobal(&p, &z, a, "arr");
        OUT("address range %s", R(cuMemGetAddressRange(0, &z, p)));
        int t = -1;
        OUT(" type %s", R(cuPointerGetAttribute(&t, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p)));
        do {
            OUT(" %d", t);
            OUT(" free %s", R(cuMemFree(p)));
        } while (0);
        cuModuleUnload(a);
    }
}
GROUP(library)
{
    ctx();
    CUlibrary lib, l2;
    CUkernel k, ks[32];
    CUmodule m;
    CUfunction f;
    CUdeviceptr p;
    size_t z, off;
    unsigned n;
    int v;
    const char *nm;
    void *fp;
    MUST(cuLibraryLoadData(&lib, LIB, 0, 0, 0, 0, 0, 0));
    MUST(cuLibraryGetKernel(&k, lib, "k1"));
    CASE("load-nulls")
    {
        W("out", cuLibraryLoadData(0, LIB, 0, 0, 0, 0, 0, 0));
        W("code", cuLibraryLoadData(&l2, 0, 0, 0, 0, 0, 0, 0));
        W("both", cuLibraryLoadData(0, 0, 0, 0, 0, 0, 0, 0));
        W("1 jit option of null", cuLibraryLoadData(&l2, LIB, 0, 0, 1, 0, 0, 0));
        W("1 library option of null", cuLibraryLoadData(&l2, LIB, 0, 0, 0, 0, 0, 1));
    }
    static const char *bn[] = {"empty-string",        "words",         "header-only",
                               "version-99.0",        "target-sm_999", "target-sm_100",
                               "unknown-instruction", "missing-brace", "unresolved-extern-function",
                               "entry-twice"};
    for (int g = 0; g < 10; g += 5)
        CASE("load-%s-and-next", bn[g])
        for (int i = g; i < g + 5; i++) for (unsigned b = 0; b < sizeof BAD / sizeof *BAD;
                                             b++) if (!strcmp(BAD[b].n, bn[i]))
        {
            OUT("%s%s: ", i > g ? "; " : "", bn[i]);
            l2 = (CUlibrary)0x5a;
            CUresult r = cuLibraryLoadData(&l2, BAD[b].t, 0, 0, 0, 0, 0, 0);
            do {
                OUT("%s", R(r));
                OUT(" %s", outp(l2));
            } while (0);
            if (!r) {
                n = 77;
                OUT(" count %s", R(cuLibraryGetKernelCount(&n, l2)));
                do {
                    OUT(" %u", n);
                    OUT(" kernel %s", R(cuLibraryGetKernel(&k, l2, "k")));
                } while (0);
                do {
                    OUT(" module %s", R(cuLibraryGetModule(&m, l2)));
                    OUT(" unload %s", R(cuLibraryUnload(l2)));
                } while (0);
            }
        }
    CASE("load-fatbin-and-cubin")
    {
        img(FATPTX, 0, 0);
        OUT("fatbin %s", R(cuLibraryLoadData(&l2, bin, 0, 0, 0, 0, 0, 0)));
        img(CUBIN90, 0, 0);
        OUT(" cubin %s", R(cuLibraryLoadData(&l2, bin, 0, 0, 0, 0, 0, 0)));
        img(CUBIN75, 0, 0);
        CUresult r = cuLibraryLoadData(&l2, bin, 0, 0, 0, 0, 0, 0);
        OUT(" cubin sm_75 %s", R(r));
        if (!r)
            do {
                OUT(" kernel %s", R(cuLibraryGetKernel(&k, l2, "k")));
                OUT(" module %s", R(cuLibraryGetModule(&m, l2)));
            } while (0);
        memset(bin, 0, 64);
        OUT(" zeros %s", R(cuLibraryLoadData(&l2, bin, 0, 0, 0, 0, 0, 0)));
    }
    CASE("library-options") EACH(o, -1, 1, 2, 77)
    {
        CUlibraryOption lo = *o;
        void *lv = (void *)1;
        do {
            OUT("%d", *o);
            OUT(": %s ", R(cuLibraryLoadData(&l2, LIB, 0, 0, 0, &lo, &lv, 1)));
        } while (0);
    }
    CASE("jit-option")
    {
        CUjit_option o = CU_JIT_OPTIMIZATION_LEVEL;
        void *ov = (void *)1;
        OUT("%s", R(cuLibraryLoadData(&l2, LIB, &o, &ov, 1, 0, 0, 0)));
        o = 9999;
        OUT(" unknown %s", R(cuLibraryLoadData(&l2, LIB, &o, &ov, 1, 0, 0, 0)));
    }
    static const char *kn[] = {"k0", "k2", "kstatic", "devf", "nosuch", ""};
    CASE("kernels") for (int i = 0; i < 6; i++)
    {
        CUkernel q = (CUkernel)0x5a;
        do {
            OUT("\"%s", kn[i]);
            OUT("\": %s", R(cuLibraryGetKernel(&q, lib, kn[i])));
        } while (0);
        OUT(" %s; ", outp(q));
    }
    CASE("kernel-nulls")
    {
        W("out", cuLibraryGetKernel(0, lib, "k0"));
        W("library", cuLibraryGetKernel(&k, 0, "k0"));
        W("name", cuLibraryGetKernel(&k, lib, 0));
    }
    CASE("count")
    {
        n = 77;
        OUT("%s", R(cuLibraryGetKernelCount(&n, lib)));
        do {
            OUT(" %u", n);
            OUT(" null out %s", R(cuLibraryGetKernelCount(0, lib)));
            OUT(" null library %s", R(cuLibraryGetKernelCount(&n, 0)));
        } while (0);
    }
    CASE("enumerate")
    {
        memset(ks, 0, sizeof ks);
        OUT("%s", R(cuLibraryEnumerateKernels(ks, 32, lib)));
        int c = 0;
        char *ns[32];
        for (int i = 0; i < 32; i++)
            if (ks[i] && !cuKernelGetName(&nm, ks[i]))
                ns[c++] = strdup(nm);
        for (int i = 0; i < c; i++)
            for (int j = i + 1; j < c; j++)
                if (strcmp(ns[i], ns[j]) > 0) {
                    char *t = ns[i];
                    ns[i] = ns[j];
                    ns[j] = t;
                }
        for (int i = 0; i < c; i++)
            OUT(" %s", ns[i]);
        memset(ks, 0, sizeof ks);
        OUT("; two %s", R(cuLibraryEnumerateKernels(ks, 2, lib)));
        do {
            OUT(" %d", ks[1] != 0);
            OUT(" %d", ks[2] == 0);
            OUT("; zero %s", R(cuLibraryEnumerateKernels(ks, 0, lib)));
            OUT(" null %s", R(cuLibraryEnumerateKernels(0, 2, lib)));
        } while (0);
    }
    CASE("module")
    {
        CUmodule a = 0, b = (void *)1;
        OUT("%s", R(cuLibraryGetModule(&a, lib)));
        cuLibraryGetModule(&b, lib);
        do {
            OUT(" same %d", a == b);
            OUT("; function of it %s", R(cuModuleGetFunction(&f, a, "k0")));
            OUT("; null out %s", R(cuLibraryGetModule(0, lib)));
            OUT(" null library %s", R(cuLibraryGetModule(&a, 0)));
            OUT("; unload module %s", R(cuModuleUnload(a)));
        } while (0);
    }
    CASE("global")
    {
        p = z = 0;
        OUT("%s", R(cuLibraryGetGlobal(&p, &z, lib, "gv")));
        unsigned u = 0;
        cuMemcpyDtoH(&u, p, 4);
        do {
            OUT(" bytes %zu", z);
            OUT(" value %u", u);
            OUT("; const %s", R(cuLibraryGetGlobal(&p, &z, lib, "cv")));
        } while (0);
        do {
            OUT(" %zu", z);
            OUT("; hidden %s", R(cuLibraryGetGlobal(&p, &z, lib, "hidden")));
            OUT(" unknown %s", R(cuLibraryGetGlobal(&p, &z, lib, "zz")));
            OUT(" null outs %s", R(cuLibraryGetGlobal(0, 0, lib, "gv")));
            OUT(" null name %s", R(cuLibraryGetGlobal(&p, &z, lib, 0)));
            OUT(" null library %s", R(cuLibraryGetGlobal(&p, &z, 0, "gv")));
        } while (0);
    }
    CASE("global-same-as-module")
    {
        CUdeviceptr q = 0;
        cuLibraryGetModule(&m, lib);
        cuModuleGetGlobal(&q, &z, m, "gv");
        cuLibraryGetGlobal(&p, &z, lib, "gv");
        OUT("%d", p == q);
    }
    CASE("managed-and-unified")
    {
        do {
            OUT("managed %s", R(cuLibraryGetManaged(&p, &z, lib, "zz")));
            OUT(" of global %s", R(cuLibraryGetManaged(&p, &z, lib, "gv")));
            OUT(" unified %s", R(cuLibraryGetUnifiedFunction(&fp, lib, "devf")));
        } while (0);
        OUT(" unknown %s", R(cuLibraryGetUnifiedFunction(&fp, lib, "zz")));
    }
    CASE("kernel-function")
    {
        CUfunction a = 0, b = (void *)1;
        OUT("%s", R(cuKernelGetFunction(&a, k)));
        cuKernelGetFunction(&b, k);
        do {
            OUT(" same %d", a == b);
            OUT(" differs from kernel %d", (void *)a != (void *)k);
            OUT("; null out %s", R(cuKernelGetFunction(0, k)));
            OUT(" null kernel %s", R(cuKernelGetFunction(&a, 0)));
        } while (0);
        OUT("; launch %s", R(L1(a, dm)));
        do {
            OUT(" %u", rd(0));
            OUT(" %u", rd(4));
        } while (0);
    }
    CASE("kernel-as-function")
    {
        cuMemsetD8(dm, 0, 8);
        OUT("launch %s", R(L1((CUfunction)k, dm)));
        do {
            OUT(" %u", rd(0));
            OUT("; attribute %s", R(cuFuncGetAttribute(&v, 0, (CUfunction)k)));
        } while (0);
        nm = 0;
        OUT(" name %s", R(cuFuncGetName(&nm, (CUfunction)k)));
        OUT(" %s", nm ? nm : "-");
    }
    CASE("kernel-name-library")
    {
        nm = 0;
        l2 = 0;
        OUT("%s", R(cuKernelGetName(&nm, k)));
        do {
            OUT(" %s", nm ? nm : "-");
            OUT("; library %s", R(cuKernelGetLibrary(&l2, k)));
        } while (0);
        do {
            OUT(" same %d", l2 == lib);
            OUT("; nulls %s", R(cuKernelGetName(0, k)));
            OUT(" %s", R(cuKernelGetName(&nm, 0)));
            OUT(" %s", R(cuKernelGetLibrary(0, k)));
            OUT(" %s", R(cuKernelGetLibrary(&l2, 0)));
        } while (0);
    }
    CASE("kernel-params")
    {
        CUkernel q;
        cuLibraryGetKernel(&q, lib, "k2");
        for (int i = 0; i < 5; i++) {
            off = z = 777;
            OUT("%s", R(cuKernelGetParamInfo(q, i, &off, &z)));
            OUT(" %zu %zu; ", off, z);
        }
        do {
            OUT("null kernel %s", R(cuKernelGetParamInfo(0, 0, &off, &z)));
            OUT(" null offset %s", R(cuKernelGetParamInfo(q, 0, 0, &z)));
            OUT(" null size %s", R(cuKernelGetParamInfo(q, 0, &off, 0)));
        } while (0);
    }
    CASE("kernel-attributes") for (int a = -1; a < 17; a++)
    {
        v = -7;
        do {
            OUT("%d", a);
            OUT(":%s", R(cuKernelGetAttribute(&v, a, k, 0)));
        } while (0);
        if (a != CU_FUNC_ATTRIBUTE_NUM_REGS)
            OUT("=%d ", v);
        else
            OUT(" ");
    }
    CASE("kernel-attribute-errors")
    {
        W("device -1", cuKernelGetAttribute(&v, 0, k, -1));
        W("device 99", cuKernelGetAttribute(&v, 0, k, 99));
        W("null out", cuKernelGetAttribute(0, 0, k, 0));
        W("null kernel", cuKernelGetAttribute(&v, 0, 0, 0));
        W("set null kernel", cuKernelSetAttribute(8, 0, 0, 0));
        W("set device 99", cuKernelSetAttribute(8, 0, k, 99));
    }
    CASE("kernel-set-attribute")
    {
        for (int a = 0; a < 16; a++)
            do {
                OUT("%d", a);
                OUT(":%s ", R(cuKernelSetAttribute(a, 1, k, 0)));
            } while (0);
        do {
            OUT("shared 100000 %s", R(cuKernelSetAttribute(8, 100000, k, 0)));
            OUT(" too much %s", R(cuKernelSetAttribute(8, 300000, k, 0)));
        } while (0);
        v = -7;
        cuKernelGetAttribute(&v, 8, k, 0);
        OUT(" now %d", v);
        cuKernelGetFunction(&f, k);
        cuFuncGetAttribute(&v, 8, f);
        OUT(" function %d", v);
    }
    CASE("kernel-cache-config") for (int c = -1; c < 5; c++) do
    {
        OUT("%d", c);
        OUT(":%s ", R(cuKernelSetCacheConfig(k, c, 0)));
    }
    while (0)
        ;
    CASE("unload")
    {
        l2 = 0;
        cuLibraryLoadData(&l2, LIB, 0, 0, 0, 0, 0, 0);
        do {
            OUT("%s", R(cuLibraryUnload(l2)));
            OUT(" null %s", R(cuLibraryUnload(0)));
        } while (0);
    }
}

// ---- linking ----
static const char *
    LA = HEAD
    ".extern .func (.param .b32 r) twice(.param .b32 a);\n.extern .global .u32 shared_g;\n.visible "
    ".entry k(.param .u64 p)\n{\n.reg .b64 %x;\n.reg .b32 %r<3>;\nld.param.u64 %x,[p];\nmov.u32 "
    "%r0,21;\n{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a],%r0;\ncall "
    "(r),twice,(a);\nld.param.b32 %r1,[r];\n}\nld.global.u32 %r2,[shared_g];\nadd.u32 "
    "%r1,%r1,%r2;\nst.global.u32 [%x],%r1;\nret;\n}\n",
   *LB = HEAD
   ".visible .global .u32 shared_g=1000;\n.visible .func (.param .b32 r) twice(.param .b32 "
   "a)\n{\n.reg .b32 %q;\nld.param.b32 %q,[a];\nadd.u32 %q,%q,%q;\nst.param.b32 [r],%q;\nret;\n}\n";
static CUresult addp(CUlinkState s, const char *t, const char *n)
{
    return cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)t, strlen(t) + 1, n, 0, 0, 0);
}
#define LC() (cub = 0, sz = 0, m = 0, f = 0, s = 0, cuLinkCreate(0, 0, 0, &s))
GROUP(link)
{
    ctx();
    CUlinkState s;
    void *cub;
    size_t sz;
    CUmodule m;
    CUfunction f;
    CASE("two-pieces")
    {
        OUT("create %s", R(LC()));
        do {
            OUT(" a %s", R(addp(s, LA, "a")));
            OUT(" b %s", R(addp(s, LB, "b")));
        } while (0);
        cub = 0;
        sz = 0;
        OUT(" complete %s", R(cuLinkComplete(s, &cub, &sz)));
        do {
            OUT(" image %d", cub != 0);
            OUT(" size %d", sz > 0);
            OUT(" elf %d", cub && !memcmp(cub, "\177ELF", 4));
        } while (0);
        OUT(" load %s", R(cuModuleLoadData(&m, cub)));
        OUT(" destroy %s", R(cuLinkDestroy(s)));
        OUT(" get %s", R(cuModuleGetFunction(&f, m, "k")));
        OUT(" launch %s", R(L1(f, dm)));
        OUT(" %u", rd(0));
    }
    CASE("reverse-order")
    {
        LC();
        do {
            OUT("%s", R(addp(s, LB, "b")));
            OUT(" %s", R(addp(s, LA, "a")));
        } while (0);
        OUT(" %s", R(cuLinkComplete(s, &cub, &sz)));
        cuModuleLoadData(&m, cub);
        cuModuleGetFunction(&f, m, "k");
        L1(f, dm);
        OUT(" %u", rd(0));
    }
    CASE("one-piece")
    {
        LC();
        do {
            OUT("%s", R(addp(s, LIB, "lib")));
            OUT(" %s", R(cuLinkComplete(s, &cub, &sz)));
        } while (0);
        OUT(" load %s", R(cuModuleLoadData(&m, cub)));
        OUT(" k1 %s", R(cuModuleGetFunction(&f, m, "k1")));
        OUT(" launch %s", R(L1(f, dm)));
        OUT(" %u", rd(0));
    }
    CASE("nothing-added")
    {
        LC();
        cub = (void *)0x5a;
        sz = 77;
        OUT("%s", R(cuLinkComplete(s, &cub, &sz)));
        do {
            OUT(" %s", outp(cub));
            OUT(" %s", sz == 77 ? "untouched" : "set");
        } while (0);
    }
    CASE("unresolved")
    {
        LC();
        do {
            OUT("%s", R(addp(s, LA, "a")));
            OUT(" %s", R(cuLinkComplete(s, &cub, &sz)));
        } while (0);
    }
    CASE("duplicate-symbol")
    {
        LC();
        do {
            OUT("%s", R(addp(s, LB, "b")));
            OUT(" %s", R(addp(s, LB, "b2")));
            OUT(" %s", R(cuLinkComplete(s, &cub, &sz)));
        } while (0);
    }
    CASE("weak-duplicate")
    {
        static const char *w = HEAD ".weak .func (.param .b32 r) twice(.param .b32 a)\n{\n.reg "
                                    ".b32 %q;\nmov.b32 %q,5;\nst.param.b32 [r],%q;\nret;\n}\n";
        LC();
        do {
            OUT("%s", R(addp(s, w, "w")));
            OUT(" %s", R(addp(s, LA, "a")));
            OUT(" %s", R(addp(s, LB, "b")));
            OUT(" %s", R(cuLinkComplete(s, &cub, &sz)));
        } while (0);
        m = 0;
        cuModuleLoadData(&m, cub);
        cuModuleGetFunction(&f, m, "k");
        L1(f, dm);
        OUT(" %u", rd(0));
    }
    CASE("same-entry-twice")
    {
        LC();
        do {
            OUT("%s", R(addp(s, LIB, "1")));
            OUT(" %s", R(addp(s, LIB, "2")));
            OUT(" %s", R(cuLinkComplete(s, &cub, &sz)));
        } while (0);
    }
    CASE("bad-ptx")
    {
        LC();
        OUT("%s", R(addp(s, HEAD "garbage\n", "g")));
        do {
            OUT(" then good %s", R(addp(s, LIB, "lib")));
            OUT(" complete %s", R(cuLinkComplete(s, &cub, &sz)));
        } while (0);
    }
    CASE("ptx-without-terminator")
    {
        LC();
        OUT("%s", R(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)LB, strlen(LB), "b", 0, 0, 0)));
    }
    CASE("size-0")
    {
        LC();
        do {
            OUT("%s", R(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)LB, 0, "b", 0, 0, 0)));
            OUT("; null data %s", R(cuLinkAddData(s, CU_JIT_INPUT_PTX, 0, 100, "b", 0, 0, 0)));
        } while (0);
    }
    CASE("null-name")
    {
        LC();
        OUT("%s", R(cuLinkAddData(s, CU_JIT_INPUT_PTX, (void *)LB, strlen(LB) + 1, 0, 0, 0, 0)));
    }
    CASE("ptx-as-other-type") EACH(t, -1, 0, 2, 3, 4, 5, 6, 99)
    {
        LC();
        do {
            OUT("%d", *t);
            OUT(": %s ", R(cuLinkAddData(s, *t, (void *)LB, strlen(LB) + 1, "b", 0, 0, 0)));
        } while (0);
    }
    CASE("cubin-as-cubin")
    {
        size_t n = img(CUBIN90, 0, 0);
        LC();
        OUT("%s", R(cuLinkAddData(s, CU_JIT_INPUT_CUBIN, bin, n, "c", 0, 0, 0)));
        OUT(" complete %s", R(cuLinkComplete(s, &cub, &sz)));
    }
    CASE("relocatable-as-cubin")
    {
        size_t n = img(RELOC90, 0, 0);
        LC();
        OUT("%s", R(cuLinkAddData(s, CU_JIT_INPUT_CUBIN, bin, n, "c", 0, 0, 0)));
        OUT(" complete %s", R(cuLinkComplete(s, &cub, &sz)));
        OUT(" load %s", R(cuModuleLoadData(&m, cub)));
    }
    CASE("fatbin-as-fatbin")
    {
        size_t n = img(FATPTX, 0, 0);
        LC();
        OUT("%s", R(cuLinkAddData(s, CU_JIT_INPUT_FATBINARY, bin, n, "c", 0, 0, 0)));
        OUT(" complete %s", R(cuLinkComplete(s, &cub, &sz)));
    }
    CASE("nulls")
    {
        W("create null out", cuLinkCreate(0, 0, 0, 0));
        W("create 1 option of null", cuLinkCreate(1, 0, 0, &s));
        LC();
        W("add null state", addp(0, LB, "b"));
        W("complete null state", cuLinkComplete(0, &cub, &sz));
        addp(s, LB, "b");
        W("complete null image", cuLinkComplete(s, 0, &sz));
        W("complete null size", cuLinkComplete(s, &cub, 0));
        W("destroy null", cuLinkDestroy(0));
        W("file null path", cuLinkAddFile(s, CU_JIT_INPUT_PTX, 0, 0, 0, 0));
        W("file missing", cuLinkAddFile(s, CU_JIT_INPUT_PTX, "/nonexistent/x", 0, 0, 0));
        W("file null state", cuLinkAddFile(0, CU_JIT_INPUT_PTX, "/nonexistent/x", 0, 0, 0));
    }
    CASE("complete-twice")
    {
        LC();
        addp(s, LIB, "l");
        void *c2 = 0;
        do {
            OUT("%s", R(cuLinkComplete(s, &cub, &sz)));
            OUT(" %s", R(cuLinkComplete(s, &c2, &sz)));
        } while (0);
        OUT(" add after %s", R(addp(s, LB, "b")));
    }
    CASE("destroy-without-complete")
    {
        LC();
        addp(s, LIB, "l");
        OUT("%s", R(cuLinkDestroy(s)));
    }
    CASE("option-errors")
    {
        CUjit_option o = 9999;
        void *v = 0;
        OUT("unknown %s", R(cuLinkCreate(1, &o, &v, &s)));
        o = CU_JIT_FALLBACK_STRATEGY;
        OUT(" fallback %s", R(cuLinkCreate(1, &o, &v, &s)));
        o = CU_JIT_TARGET;
        v = (void *)75;
        OUT(" target 75 %s", R(cuLinkCreate(1, &o, &v, &s)));
        v = (void *)90;
        OUT(" target 90 %s", R(cuLinkCreate(1, &o, &v, &s)));
    }
    CASE("logs")
    {
        static char il[4096], el[4096];
        CUjit_option o[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_LOG_VERBOSE};
        void *v[] = {il, (void *)4096, el, (void *)4096, (void *)1};
        cuLinkCreate(5, o, v, &s);
        OUT("add %s", R(addp(s, LA, "a")));
        do {
            OUT(" complete %s", R(cuLinkComplete(s, &cub, &sz)));
            OUT(" info %s", il[0] ? "written" : "empty");
            OUT(" error %s", el[0] ? "written" : "empty");
            OUT(" mentions twice %d", strstr(el, "twice") != 0);
        } while (0);
    }
    CASE("add-file-ptx")
    {
        char fn[64];
        snprintf(fn, 64, "/tmp/xm-%d.ptx", (int)getpid());
        int fd = open(fn, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        if (write(fd, LIB, strlen(LIB)) < 0)
            OUT("write ");
        close(fd);
        LC();
        do {
            OUT("%s", R(cuLinkAddFile(s, CU_JIT_INPUT_PTX, fn, 0, 0, 0)));
            OUT(" %s", R(cuLinkComplete(s, &cub, &sz)));
        } while (0);
        unlink(fn);
    }
}

// ---- launch arguments: nothing here may reach the device wrongly; the last word says whether a
// good launch still works ----
#define OKAY()                                                                                     \
    do {                                                                                           \
        CUresult q_ = cuLaunchKernel(f_k0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);                          \
        CUresult c_ = cuCtxSynchronize();                                                          \
        do {                                                                                       \
            OUT("; then %s", R(q_));                                                               \
            OUT(" %s", R(c_));                                                                     \
        } while (0);                                                                               \
    } while (0)
#define LA_(f, gx, gy, gz, bx, by, bz, sh, st, kp, ex)                                             \
    do {                                                                                           \
        OUT("%s", R(cuLaunchKernel(f, gx, gy, gz, bx, by, bz, sh, st, kp, ex)));                   \
        OKAY();                                                                                    \
    } while (0)
static const struct {
    const char *n;
    unsigned g[3], b[3], sh;
} DIM[] = {{"grid-x-0", {0, 1, 1}, {1, 1, 1}, 0},
           {"grid-y-0", {1, 0, 1}, {1, 1, 1}, 0},
           {"grid-z-0", {1, 1, 0}, {1, 1, 1}, 0},
           {"block-x-0", {1, 1, 1}, {0, 1, 1}, 0},
           {"block-y-0", {1, 1, 1}, {1, 0, 1}, 0},
           {"block-z-0", {1, 1, 1}, {1, 1, 0}, 0},
           {"all-0", {0, 0, 0}, {0, 0, 0}, 0},
           {"grid-x-2^31", {0x80000000u, 1, 1}, {1, 1, 1}, 0},
           {"grid-y-65535", {1, 65535, 1}, {1, 1, 1}, 0},
           {"grid-y-65536", {1, 65536, 1}, {1, 1, 1}, 0},
           {"grid-z-65535", {1, 1, 65535}, {1, 1, 1}, 0},
           {"grid-z-65536", {1, 1, 65536}, {1, 1, 1}, 0},
           {"block-x-1024", {1, 1, 1}, {1024, 1, 1}, 0},
           {"block-x-1025", {1, 1, 1}, {1025, 1, 1}, 0},
           {"block-y-1024", {1, 1, 1}, {1, 1024, 1}, 0},
           {"block-y-1025", {1, 1, 1}, {1, 1025, 1}, 0},
           {"block-z-64", {1, 1, 1}, {1, 1, 64}, 0},
           {"block-z-65", {1, 1, 1}, {1, 1, 65}, 0},
           {"block-32x32x1", {1, 1, 1}, {32, 32, 1}, 0},
           {"block-32x33x1", {1, 1, 1}, {32, 33, 1}, 0},
           {"block-32x32x2", {1, 1, 1}, {32, 32, 2}, 0},
           {"shared-48K", {1, 1, 1}, {1, 1, 1}, 49152},
           {"shared-48K+1", {1, 1, 1}, {1, 1, 1}, 49153},
           {"shared-227K", {1, 1, 1}, {1, 1, 1}, 232448},
           {"shared-1M", {1, 1, 1}, {1, 1, 1}, 1 << 20},
           {"shared-max", {1, 1, 1}, {1, 1, 1}, 0xffffffffu},
           {"grid-0-and-block-1025", {0, 1, 1}, {1025, 1, 1}, 0},
           {"grid-0-and-shared-1M", {0, 1, 1}, {1, 1, 1}, 1 << 20},
           {"block-1025-and-shared-1M", {1, 1, 1}, {1025, 1, 1}, 1 << 20}};
GROUP(launch_dims)
{
    S();
    for (unsigned i = 0; i < sizeof DIM / sizeof *DIM; i++)
        CASE("%s", DIM[i].n)
        {
            OUT("%s", R(cuLaunchKernel(f_k0, DIM[i].g[0], DIM[i].g[1], DIM[i].g[2], DIM[i].b[0],
                                       DIM[i].b[1], DIM[i].b[2], DIM[i].sh, 0, 0, 0)));
            OUT("; cooperative %s", R(cuLaunchCooperativeKernel(
                                        f_k0, DIM[i].g[0], DIM[i].g[1], DIM[i].g[2], DIM[i].b[0],
                                        DIM[i].b[1], DIM[i].b[2], DIM[i].sh, 0, 0)));
            CUlaunchConfig c;
            memset(&c, 0, sizeof c);
            c.gridDimX = DIM[i].g[0];
            c.gridDimY = DIM[i].g[1];
            c.gridDimZ = DIM[i].g[2];
            c.blockDimX = DIM[i].b[0];
            c.blockDimY = DIM[i].b[1];
            c.blockDimZ = DIM[i].b[2];
            c.sharedMemBytes = DIM[i].sh;
            OUT("; ex %s", R(cuLaunchKernelEx(&c, f_k0, 0, 0)));
            OKAY();
        }
}
GROUP(launch_params)
{
    S();
    CUdeviceptr p = dm;
    unsigned a1 = 5;
    struct {
        char b[24];
    } s24;
    memset(&s24, 7, 24);
    unsigned char c1 = 9;
    void *kp1[] = {&p}, *kp2[] = {&a1, &p, &c1, &s24};
    unsigned char buf[64];
    memset(buf, 0, 64);
    memcpy(buf, &a1, 4);
    memcpy(buf + 8, &p, 8);
    buf[16] = 9;
    memset(buf + 32, 7, 24);
    size_t sz = 56;
    void *ex[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buf, CU_LAUNCH_PARAM_BUFFER_SIZE, &sz,
                  CU_LAUNCH_PARAM_END};
#define LP(f, kp, e) cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, kp, e)
    CASE("kernel-params")
    {
        OUT("%s", R(LP(f_k2, kp2, 0)));
        do {
            OUT(" %u", rd(0));
            OUT(" %u", rd(4));
            OUT(" %x", rd(8));
        } while (0);
        OKAY();
    }
    CASE("extra")
    {
        cuMemsetD8(dm, 0, 64);
        OUT("%s", R(LP(f_k2, 0, ex)));
        do {
            OUT(" %u", rd(0));
            OUT(" %u", rd(4));
            OUT(" %x", rd(8));
        } while (0);
        OKAY();
    }
    CASE("params-not-needed")
    {
        OUT("%s", R(LP(f_k0, kp1, 0)));
        OKAY();
    }
    CASE("extra-not-needed")
    {
        OUT("%s", R(LP(f_k0, 0, ex)));
        OKAY();
    }
    CASE("extra-sizes") EACH(z, 0, 1, 8, 16, 17, 32, 55, 56, 57, 64, 4096, 40000)
    {
        OUT(" %d: ", *z);
        static unsigned char big[65536];
        memcpy(big, buf, 64);
        size_t q = *z;
        void *e[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, big, CU_LAUNCH_PARAM_BUFFER_SIZE, &q,
                     CU_LAUNCH_PARAM_END};
        if (q >= 16)
            OUT("%s", R(LP(f_k2, 0, e)));
        else
            OUT("%s", R(LP(f_k0, 0, e)));
        OKAY();
    }
    CASE("extra-size-first")
    {
        void *e[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &sz, CU_LAUNCH_PARAM_BUFFER_POINTER, buf,
                     CU_LAUNCH_PARAM_END};
        cuMemsetD8(dm, 0, 64);
        OUT("%s", R(LP(f_k2, 0, e)));
        OUT(" %u", rd(0));
        OKAY();
    }
    CASE("extra-unknown-tag")
    {
        void *e[] = {(void *)5, buf, CU_LAUNCH_PARAM_END};
        OUT("%s", R(LP(f_k0, 0, e)));
        OKAY();
    }
    CASE("params-read-before-return")
    {
        unsigned v = 5;
        CUdeviceptr q = dm;
        void *kp[] = {&q, &v};
        LP(f_store, kp, 0);
        v = 6;
        OUT("%u", rd(0));
    }
    CASE("null-function") LA_(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
    CASE("null-function-and-zero-grid") LA_(0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0);
    CASE("per-thread-stream") LA_(f_k0, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, 0, 0);
    {
        CUfunction kr, km;
        cuModuleGetFunction(&kr, mod, "kreq");
        cuModuleGetFunction(&km, mod, "kmax");
        CASE("reqntid-64") EACH(b, 1, 32, 63, 64, 65, 128)
        {
            OUT(" %d: ", *b);
            LA_(kr, 1, 1, 1, *b, 1, 1, 0, 0, 0, 0);
        }
        CASE("reqntid-64-block-8x8") LA_(kr, 1, 1, 1, 8, 8, 1, 0, 0, 0, 0);
        CASE("maxntid-128") EACH(b, 1, 128, 129, 1024, 2000)
        {
            OUT(" %d: ", *b);
            LA_(km, 1, 1, 1, *b, 1, 1, 0, 0, 0, 0);
        }
    }
    CASE("too-many-registers")
    {
        static char t[20000];
        strcpy(t, HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\n.reg .b32 "
                       "%r<130>;\nld.param.u64 %x,[p];\n");
        char l[100];
        for (int i = 0; i < 120; i++) {
            snprintf(l, 100, "ld.volatile.global.u32 %%r%d,[%%x+%d];\n", i, i * 4);
            strcat(t, l);
        }
        for (int i = 119; i >= 0; i--) {
            snprintf(l, 100, "st.volatile.global.u32 [%%x+%d],%%r%d;\n", i * 4, i);
            strcat(t, l);
        }
        strcat(t, "ret;\n}\n");
        CUmodule m;
        CUfunction f;
        OUT("%s", R(cuModuleLoadData(&m, t)));
        cuModuleGetFunction(&f, m, "k");
        int rg = 0, mt = 0;
        cuFuncGetAttribute(&rg, CU_FUNC_ATTRIBUTE_NUM_REGS, f);
        cuFuncGetAttribute(&mt, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
        do {
            OUT(" more than 64 registers %d", rg > 64);
            OUT(", at most 1024 threads %d", mt < 1024);
            OUT("; block 1024 %s", R(cuLaunchKernel(f, 1, 1, 1, 1024, 1, 1, 0, 0, kp1, 0)));
        } while (0);
        OUT(" block 64 %s", R(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, 0, kp1, 0)));
        OKAY();
    }
    CASE("module-unloaded-then-other-launch")
    {
        CUmodule m;
        cuModuleLoadData(&m, LIB);
        OUT("%s", R(cuModuleUnload(m)));
        OKAY();
    }
    CASE("launch-then-unload-at-once")
    {
        CUmodule m;
        CUfunction f;
        cuModuleLoadData(&m, LIB);
        cuModuleGetFunction(&f, m, "k1");
        cuMemsetD8(dm, 0, 8);
        do {
            OUT("%s", R(L1(f, dm)));
            OUT(" unload %s", R(cuModuleUnload(m)));
        } while (0);
        OUT(" %u", rd(0));
        OKAY();
    }
}
// parameters missing: these may reach the device with anything, so each has a process
static int pm;
static const char *PMN[] = {"both",
                            "neither-though-needed",
                            "null-entry",
                            "extra-only-end",
                            "extra-no-size",
                            "extra-no-pointer",
                            "extra-null-pointer",
                            "null-function-and-both-params",
                            "zero-grid-and-missing-params",
                            "both-params-and-zero-grid",
                            "big-block-and-missing-params",
                            "big-shared-and-missing-params"};
GROUP(launch_missing)
{
    S();
    CUdeviceptr p = dm;
    void *kp1[] = {&p}, *nul[] = {0};
    unsigned a1 = 5;
    unsigned char c1 = 9;
    char s24[24] = {0};
    void *kp2[] = {&a1, &p, &c1, s24};
    unsigned char buf[64];
    memset(buf, 0, 64);
    memcpy(buf, &p, 8);
    memcpy(buf + 8, &p, 8);
    size_t sz = 56;
    void *ex[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buf, CU_LAUNCH_PARAM_BUFFER_SIZE, &sz,
                  CU_LAUNCH_PARAM_END};
    CASE("%s", PMN[pm]) switch (pm)
    {
    case 0: {
        OUT("%s", R(LP(f_k2, kp2, ex)));
        OKAY();
    } break;
    case 1: {
        OUT("%s", R(LP(f_k1, 0, 0)));
        OKAY();
    } break;
    case 2: {
        OUT("%s", R(LP(f_k1, nul, 0)));
        OKAY();
    } break;
    case 3: {
        void *e[] = {CU_LAUNCH_PARAM_END};
        do {
            OUT("%s", R(LP(f_k0, 0, e)));
            OUT(" with parameters needed %s", R(LP(f_k1, 0, e)));
        } while (0);
        OKAY();
    } break;
    case 4: {
        void *e[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buf, CU_LAUNCH_PARAM_END};
        do {
            OUT("%s", R(LP(f_k2, 0, e)));
            OUT(" without parameters %s", R(LP(f_k0, 0, e)));
        } while (0);
        OKAY();
    } break;
    case 5: {
        void *e[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &sz, CU_LAUNCH_PARAM_END};
        OUT("%s", R(LP(f_k2, 0, e)));
        OKAY();
    } break;
    case 6: {
        void *e[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, 0, CU_LAUNCH_PARAM_BUFFER_SIZE, &sz,
                     CU_LAUNCH_PARAM_END};
        OUT("%s", R(LP(f_k2, 0, e)));
        OKAY();
    } break;
    case 7:
        LA_(0, 1, 1, 1, 1, 1, 1, 0, 0, kp1, ex);
        break;
    case 8:
        LA_(f_k1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0);
        break;
    case 9:
        LA_(f_k1, 0, 1, 1, 1, 1, 1, 0, 0, kp1, ex);
        break;
    case 10:
        LA_(f_k1, 1, 1, 1, 2048, 1, 1, 0, 0, 0, 0);
        break;
    case 11:
        LA_(f_k1, 1, 1, 1, 1, 1, 1, 1 << 20, 0, 0, 0);
        break;
    }
}
static CUlaunchConfig cfg(unsigned g, unsigned b, CUlaunchAttribute *a, unsigned n)
{
    CUlaunchConfig c;
    memset(&c, 0, sizeof c);
    c.gridDimX = g;
    c.blockDimX = b;
    c.gridDimY = c.gridDimZ = c.blockDimY = c.blockDimZ = 1;
    c.attrs = a;
    c.numAttrs = n;
    return c;
}
GROUP(launch_ex)
{
    S();
    CUlaunchAttribute a[4];
    CUlaunchConfig c;
    CUevent e, et;
    cuEventCreate(&e, CU_EVENT_DISABLE_TIMING);
    cuEventCreate(&et, 0);
#define EX(n)                                                                                      \
    do {                                                                                           \
        c = cfg(8, 32, a, n);                                                                      \
        OUT("%s", R(cuLaunchKernelEx(&c, f_k0, 0, 0)));                                            \
        OKAY();                                                                                    \
    } while (0)
    CASE("nulls")
    {
        c = cfg(1, 1, 0, 0);
        W("config", cuLaunchKernelEx(0, f_k0, 0, 0));
        W("function", cuLaunchKernelEx(&c, 0, 0, 0));
        W("plain", cuLaunchKernelEx(&c, f_k0, 0, 0));
        c.numAttrs = 1;
        W("1 attribute of null", cuLaunchKernelEx(&c, f_k0, 0, 0));
        OKAY();
    }
    for (int g = -1; g < 20; g += 7)
        CASE("attributes-zero-from-%d", g) for (int id = g; id < g + 7; id++)
        {
            OUT(" %d: ", id);
            memset(a, 0, sizeof a);
            a[0].id = id;
            EX(1);
        }
    CASE("attributes-one")
    for (int id = 0; id < 17; id++) if (id != 7 && id != 12 && id != 13 && id != 1)
    {
        OUT(" %d: ", id);
        memset(a, 0, sizeof a);
        a[0].id = id;
        a[0].value.clusterDim.x = 1;
        a[0].value.clusterDim.y = id == 4 || id == 11;
        a[0].value.clusterDim.z = id == 4 || id == 11;
        EX(1);
    }
    static const unsigned cd[][3] = {{2, 1, 1}, {4, 1, 1}, {8, 1, 1}, {16, 1, 1}, {9, 1, 1},
                                     {3, 1, 1}, {5, 1, 1}, {1, 2, 1}, {1, 1, 2},  {0, 1, 1},
                                     {2, 0, 0}, {0, 0, 0}, {32, 1, 1}};
    for (unsigned g = 0; g < sizeof cd / sizeof *cd; g += 5)
        CASE("clusters-from-%ux%ux%u", cd[g][0], cd[g][1], cd[g][2])
        for (unsigned i = g; i < g + 5 && i < sizeof cd / sizeof *cd; i++)
        {
            OUT(" %ux%ux%u: ", cd[i][0], cd[i][1], cd[i][2]);
            memset(a, 0, sizeof a);
            a[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            a[0].value.clusterDim.x = cd[i][0];
            a[0].value.clusterDim.y = cd[i][1];
            a[0].value.clusterDim.z = cd[i][2];
            EX(1);
        }
    CASE("cluster-16-non-portable-allowed")
    {
        CUmodule m;
        CUfunction f;
        cuModuleLoadData(&m, LIB);
        cuModuleGetFunction(&f, m, "k0");
        memset(a, 0, sizeof a);
        a[0].id = 4;
        a[0].value.clusterDim.x = 16;
        a[0].value.clusterDim.y = a[0].value.clusterDim.z = 1;
        OUT("set %s",
            R(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)));
        c = cfg(16, 32, a, 1);
        OUT(" launch %s", R(cuLaunchKernelEx(&c, f, 0, 0)));
        OKAY();
    }
    CASE("cluster-and-cooperative")
    {
        memset(a, 0, sizeof a);
        a[0].id = 4;
        a[0].value.clusterDim.x = 2;
        a[0].value.clusterDim.y = a[0].value.clusterDim.z = 1;
        a[1].id = 2;
        a[1].value.cooperative = 1;
        EX(2);
    }
    CASE("same-attribute-twice")
    {
        memset(a, 0, sizeof a);
        a[0].id = a[1].id = 2;
        a[1].value.cooperative = 1;
        EX(2);
    }
    CASE("priority") EACH(v, -9, -5, 0, 1)
    {
        OUT(" %d: ", *v);
        memset(a, 0, sizeof a);
        a[0].id = 8;
        a[0].value.priority = *v;
        EX(1);
    }
    CASE("carveout") EACH(v, -1, 0, 50, 100, 101)
    {
        OUT(" %d: ", *v);
        memset(a, 0, sizeof a);
        a[0].id = 14;
        a[0].value.sharedMemCarveout = *v;
        EX(1);
    }
    CASE("scheduling-policy") EACH(v, 0, 1, 2, 3)
    {
        OUT(" %d: ", *v);
        memset(a, 0, sizeof a);
        a[0].id = 5;
        a[0].value.clusterSchedulingPolicyPreference = *v;
        EX(1);
    }
    CASE("programmatic-event")
    {
        memset(a, 0, sizeof a);
        a[0].id = 7;
        OUT("null event ");
        EX(1);
        a[0].value.programmaticEvent.event = e;
        OUT(" | event ");
        EX(1);
        OUT(" query %s | timing event ", R(cuEventQuery(e)));
        a[0].value.programmaticEvent.event = et;
        EX(1);
        a[0].value.programmaticEvent.event = e;
        a[0].value.programmaticEvent.flags = 9;
        OUT(" | flags 9 ");
        EX(1);
    }
    CASE("launch-completion-event")
    {
        memset(a, 0, sizeof a);
        a[0].id = 12;
        OUT("null event ");
        EX(1);
        a[0].value.launchCompletionEvent.event = e;
        OUT(" | event ");
        EX(1);
        a[0].value.launchCompletionEvent.event = et;
        OUT(" | timing event ");
        EX(1);
    }
    CASE("device-updatable-outside-graph")
    {
        memset(a, 0, sizeof a);
        a[0].id = 13;
        a[0].value.deviceUpdatableKernelNode.deviceUpdatable = 1;
        EX(1);
    }
    CASE("access-policy-window")
    {
        memset(a, 0, sizeof a);
        a[0].id = 1;
        a[0].value.accessPolicyWindow.base_ptr = (void *)dm;
        a[0].value.accessPolicyWindow.num_bytes = 4096;
        a[0].value.accessPolicyWindow.hitRatio = 1;
        a[0].value.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
        a[0].value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_STREAMING;
        EX(1);
        a[0].value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
        OUT(" | persisting miss ");
        EX(1);
        a[0].value.accessPolicyWindow.missProp = 0;
        a[0].value.accessPolicyWindow.hitRatio = 2;
        OUT(" | ratio 2 ");
        EX(1);
    }
    CASE("cooperative-fits")
    {
        int n = 0;
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f_k0, 1024, 0);
        int sm = 0;
        cuDeviceGetAttribute(&sm, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
        OUT("exactly %s", R(cuLaunchCooperativeKernel(f_k0, n * sm, 1, 1, 1024, 1, 1, 0, 0, 0)));
        OUT(" one more %s",
            R(cuLaunchCooperativeKernel(f_k0, n * sm + 1, 1, 1, 1024, 1, 1, 0, 0, 0)));
        OKAY();
    }
    CASE("cooperative-too-large")
    {
        OUT("%s", R(cuLaunchCooperativeKernel(f_k0, 1 << 20, 1, 1, 32, 1, 1, 0, 0, 0)));
        memset(a, 0, sizeof a);
        a[0].id = 2;
        a[0].value.cooperative = 1;
        c = cfg(1 << 20, 32, a, 1);
        do {
            OUT(" ex %s", R(cuLaunchKernelEx(&c, f_k0, 0, 0)));
            OUT(" null function %s", R(cuLaunchCooperativeKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, 0)));
        } while (0);
        OKAY();
    }
    CASE("cooperative-legacy-stream")
    {
        OUT("%s", R(cuLaunchCooperativeKernel(f_k0, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_LEGACY, 0)));
        OKAY();
    }
    CASE("config-block-0-with-bad-attribute")
    {
        memset(a, 0, sizeof a);
        a[0].id = 99;
        c = cfg(1, 0, a, 1);
        OUT("%s", R(cuLaunchKernelEx(&c, f_k0, 0, 0)));
        OKAY();
    }
}

// ---- globals and constants ----
GROUP(globals)
{
    S();
    CUdeviceptr g, a, c, pp;
    size_t z;
    unsigned v[8];
    cuModuleGetGlobal(&g, &z, mod, "gv");
    cuModuleGetGlobal(&a, &z, mod, "arr");
    cuModuleGetGlobal(&c, &z, mod, "cv");
    cuModuleGetGlobal(&pp, &z, mod, "ptr");
    CASE("initial-values")
    {
        cuMemcpyDtoH(v, g, 4);
        OUT("%u", v[0]);
        OUT("; const %s", R(cuMemcpyDtoH(v, c, 16)));
        OUT(" %u %u %u %u", v[0], v[1], v[2], v[3]);
        unsigned char b[100];
        memset(b, 9, 100);
        cuMemcpyDtoH(b, a, 100);
        int s = 0;
        for (int i = 0; i < 100; i++)
            s += b[i];
        OUT("; array sum %d", s);
    }
    CASE("pointer-initialiser")
    {
        CUdeviceptr q = 0;
        cuMemcpyDtoH(&q, pp, 8);
        OUT("%d", q == g);
    }
    CASE("kernel-sees-write")
    {
        v[0] = 100;
        cuMemcpyHtoD(g, v, 4);
        v[0] = 50;
        OUT("const write %s", R(cuMemcpyHtoD(c + 4, v, 4)));
        L1(f_k1, dm);
        OUT(" %u", rd(0));
    }
    CASE("write-past-end")
    {
        memset(v, 0, 32);
        do {
            OUT("global %s", R(cuMemcpyHtoD(g, v, 8)));
            OUT(" const %s", R(cuMemcpyHtoD(c, v, 32)));
            OUT(" array %s", R(cuMemsetD8(a, 1, 101)));
        } while (0);
    }
    CASE("memset")
    {
        do {
            OUT("%s", R(cuMemsetD32(g, 0x01020304, 1)));
            OUT(" %s", R(cuMemsetD32(c, 5, 4)));
        } while (0);
        cuMemcpyDtoH(v, c, 16);
        OUT(" %u", v[3]);
    }
    CASE("device-to-device")
    {
        do {
            OUT("%s", R(cuMemcpyDtoD(dm, c, 16)));
            OUT(" %s", R(cuMemcpyDtoD(c, g, 4)));
        } while (0);
        OUT(" async %s", R(cuMemcpyDtoDAsync(g, c, 4, 0)));
    }
    CASE("pointer-attributes")
    {
        for (int i = 1; i < 16; i++)
            if (i != 1 && i != 3 && i != 4 && i != 5 && i != 7 && i != 11) {
                unsigned long long q = 0;
                do {
                    OUT("%d", i);
                    OUT(":%s", R(cuPointerGetAttribute(&q, i, g)));
                } while (0);
                OUT("=%llx ", q);
            }
    }
    CASE("const-pointer-attributes")
    {
        unsigned q = 77;
        OUT("%s", R(cuPointerGetAttribute(&q, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, c)));
        OUT(" %u", q);
    }
    CASE("free-global") do
    {
        OUT("%s", R(cuMemFree(g)));
        OUT(" const %s", R(cuMemFree(c)));
    }
    while (0)
        ;
    CASE("address-range")
    {
        CUdeviceptr b = 0;
        z = 0;
        OUT("%s", R(cuMemGetAddressRange(&b, &z, g)));
        OUT(" inside %d", g >= b && g < b + z);
    }
    CASE("unaligned-copy")
    {
        unsigned char b[3] = {1, 2, 3};
        OUT("%s", R(cuMemcpyHtoD(a + 1, b, 3)));
        unsigned char o[5];
        cuMemcpyDtoH(o, a, 5);
        OUT(" %d %d %d %d %d", o[0], o[1], o[2], o[3], o[4]);
    }
}
// ---- limits, dynamic shared memory, local memory, stack ----
GROUP(limits)
{
    S();
    size_t v;
    static const size_t vs[] = {
        0, 1, 16, 1000, 1024, 4096, 100000, 1 << 20, (size_t)64 << 20, (size_t)1 << 40};
    for (int l = -1; l < 12; l++)
        CASE("limit-%d", l) for (int i = 0; i < 10; i++)
        {
            if (l == 0 && vs[i] > 1 << 20)
                continue;
            if ((l == 1 || l == 2) && vs[i] == (size_t)1 << 40)
                continue;
            do {
                OUT("%zx", vs[i]);
                OUT(":%s", R(cuCtxSetLimit(l, vs[i])));
            } while (0);
            v = 0x777;
            cuCtxGetLimit(&v, l);
            OUT("=%zx ", v);
        }
    CASE("get-null") do
    {
        OUT("%s", R(cuCtxGetLimit(0, 0)));
        OUT(" bad %s", R(cuCtxGetLimit(0, 99)));
    }
    while (0)
        ;
    CASE("then-launch")
    {
        OUT("%s", R(L1(f_k1, dm)));
        OUT(" %u", rd(0));
    }
}
static const char *REC = HEAD
    ".func (.param .b32 r) f(.param .b32 n);\n.func (.param .b32 r) f(.param .b32 n)\n{\n.local "
    ".align 4 .b8 l[256];\n.reg .b32 %q<6>;\n.reg .b64 %y<3>;\n.reg .pred %z;\nld.param.b32 "
    "%q0,[n];\nand.b32 %q1,%q0,63;\nmov.u64 %y0,l;\nmad.wide.u32 %y1,%q1,4,%y0;\ncvta.local.u64 "
    "%y1,%y1;\nst.volatile.u32 [%y1],%q0;\nmov.u32 %q2,0;\nsetp.eq.u32 %z,%q0,0;\n@%z bra "
    "D;\nsub.u32 %q3,%q0,1;\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a],%q3;\ncall "
    "(b),f,(a);\nld.param.b32 %q2,[b];\n}\nD:\nld.volatile.u32 %q4,[%y1];\nadd.u32 "
    "%q2,%q2,%q4;\nst.param.b32 [r],%q2;\nret;\n}\n.visible .entry k(.param .u64 p,.param .u32 "
    "n)\n{\n.reg .b64 %x;\n.reg .b32 %r<3>;\nld.param.u64 %x,[p];\nld.param.u32 "
    "%r0,[n];\n{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a],%r0;\ncall "
    "(b),f,(a);\nld.param.b32 %r1,[b];\n}\nst.global.u32 [%x],%r1;\nret;\n}\n.visible .entry "
    "big(.param .u64 p)\n{\n.local .align 4 .b8 l[65536];\n.reg .b64 %x<4>;\n.reg .b32 "
    "%r<4>;\n.reg .pred %z;\nld.param.u64 %x0,[p];\nmov.u64 %x1,l;\ncvta.local.u64 "
    "%x1,%x1;\nmov.u32 %r0,0;\nL:\nmad.wide.u32 %x2,%r0,4,%x1;\nst.volatile.u32 "
    "[%x2],%r0;\nadd.u32 %r0,%r0,1;\nsetp.lt.u32 %z,%r0,16384;\n@%z bra L;\nld.volatile.u32 "
    "%r1,[%x1+65532];\nst.global.u32 [%x0],%r1;\nret;\n}\n";
GROUP(local_memory)
{
    ctx();
    CUmodule m;
    CUfunction f, b;
    MUST(cuModuleLoadData(&m, REC));
    MUST(cuModuleGetFunction(&f, m, "k"));
    MUST(cuModuleGetFunction(&b, m, "big"));
    size_t v;
    unsigned n;
    void *a[] = {&dm, &n};
    CASE("shallow-recursion")
    {
        n = 2;
        OUT("%s", R(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, a, 0)));
        OUT(" %u", rd(0));
    }
    CASE("raised-stack-then-depth-50")
    {
        OUT("%s", R(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 65536)));
        v = 0;
        cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE);
        n = 50;
        do {
            OUT(" %zu", v);
            OUT(" launch %s", R(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, 0, a, 0)));
        } while (0);
        OUT(" sync %s", R(cuCtxSynchronize()));
        OUT(" %u", rd(0));
    }
    CASE("local-64K")
    {
        int l = 0;
        cuFuncGetAttribute(&l, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, b);
        do {
            OUT("size at least 65536 %d", l >= 65536);
            OUT(" launch %s", R(cuLaunchKernel(b, 1, 1, 1, 64, 1, 1, 0, 0, a, 0)));
        } while (0);
        OUT(" sync %s", R(cuCtxSynchronize()));
        OUT(" %u", rd(0));
        v = 0;
        cuCtxGetLimit(&v, CU_LIMIT_STACK_SIZE);
        OUT(" stack limit %zu", v);
    }
}
static const char *DYN =
    HEAD ".extern .shared .align 16 .b8 d[];\n.visible .entry k(.param .u64 p,.param .u32 "
         "o)\n{\n.reg .b64 %x;\n.reg .b32 %r<6>;\nld.param.u64 %x,[p];\nld.param.u32 "
         "%r0,[o];\nmov.u32 %r1,d;\nadd.u32 %r2,%r1,%r0;\nst.shared.u32 [%r2],%r0;\nbar.sync "
         "0;\nld.shared.u32 %r3,[%r2];\nst.global.u32 [%x],%r3;\nmov.u32 "
         "%r4,%dynamic_smem_size;\nst.global.u32 [%x+4],%r4;\nret;\n}\n.visible .entry s(.param "
         ".u64 p)\n{\n.shared .align 4 .b8 st[1024];\n.reg .b64 %x;\n.reg .b32 "
         "%r<3>;\nld.param.u64 %x,[p];\nmov.u32 %r0,%dynamic_smem_size;\nst.shared.u32 "
         "[st+8],%r0;\nld.shared.u32 %r1,[st+8];\nst.global.u32 [%x],%r1;\nret;\n}\n";
GROUP(dynamic_shared)
{
    ctx();
    CUmodule m;
    CUfunction f, s = NULL; // never a function: the context has failed before it is asked for
    MUST(cuModuleLoadData(&m, DYN));
    unsigned o;
    void *a[] = {&dm, &o};
    static const unsigned sz[] = {0, 16, 49152, 49153, 100000, 232447, 232448, 232449, 1 << 20};
    for (int opt = 0; opt < 3; opt++)
        CASE("opt-in-%s", (const char *[]){"none", "100000", "max"}[opt])
        for (int i = 0; i < 9; i++)
        {
            OUT("%s%u: ", i ? "; " : "", sz[i]);
            CUmodule q;
            cuModuleLoadData(&q, DYN);
            cuModuleGetFunction(&f, q, "k");
            if (opt)
                OUT("set %s ",
                    R(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                         opt == 1 ? 100000 : 232448)));
            o = sz[i] >= 20 ? (sz[i] - 16) & ~15u : 0;
            CUresult r = cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, sz[i], 0, a, 0);
            OUT("%s", R(r));
            if (!r && sz[i] >= 16) {
                OUT(" sync %s", R(cuCtxSynchronize()));
                do {
                    OUT(" %d", rd(0) == o);
                    OUT(" size %u", rd(4));
                } while (0);
            } else
                cuCtxSynchronize();
        }
    CASE("static-counts")
    {
        cuModuleGetFunction(&s, m, "s");
        int v = 0;
        cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, s);
        OUT("static %d", v);
        v = 0;
        cuFuncGetAttribute(&v, 8, s);
        do {
            OUT(" max dynamic %d", v);
            OUT("; launch 48128 %s", R(cuLaunchKernel(s, 1, 1, 1, 1, 1, 1, 48128, 0, a, 0)));
        } while (0);
        OUT(" 48129 %s", R(cuLaunchKernel(s, 1, 1, 1, 1, 1, 1, 48129, 0, a, 0)));
        do {
            OUT(" set 231424 %s", R(cuFuncSetAttribute(s, 8, 231424)));
            OUT(" 231425 %s", R(cuFuncSetAttribute(s, 8, 231425)));
        } while (0);
        cuCtxSynchronize();
    }
    CASE("attribute-negative-and-lower")
    {
        cuModuleGetFunction(&f, m, "k");
        int v;
        OUT("-1 %s", R(cuFuncSetAttribute(f, 8, -1)));
        OUT(" 0 %s", R(cuFuncSetAttribute(f, 8, 0)));
        v = -7;
        cuFuncGetAttribute(&v, 8, f);
        do {
            OUT(" now %d", v);
            OUT("; launch 16 %s", R(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 16, 0, (o = 0, a), 0)));
        } while (0);
        OUT(" launch 0 %s", R(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 16, 0, a, 0)));
        cuCtxSynchronize();
    }
}

// ---- printf through vprintf: what arrives on stdout, and when ----
static int pfd[2], saved;
static void cap0(void)
{
    fflush(stdout);
    if (pipe(pfd))
        _exit(7);
    fcntl(pfd[1], F_SETPIPE_SZ, 1 << 20);
    saved = dup(1);
    dup2(pfd[1], 1);
}
static int cap1(char *o, int n)
{
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    close(pfd[1]);
    int k = 0, r;
    while (k < n - 1 && (r = read(pfd[0], o + k, n - 1 - k)) > 0)
        k += r;
    o[k] = 0;
    close(pfd[0]);
    return k;
}
static void esc(const char *s, int n, int max)
{
    OUT("\"");
    for (int i = 0; i < n && i < max; i++) {
        unsigned char c = s[i];
        if (c == '\n')
            OUT("\\n");
        else if (c == '"' || c == '\\')
            OUT("\\%c", c);
        else if (c < 32 || c > 126)
            OUT("\\x%02x", c);
        else
            OUT("%c", c);
    }
    OUT("\"%s", n > max ? "..." : "");
}
static CUmodule pmod(const char *fmt, const char *body)
{
    static char t[8000];
    char g[1000] = "";
    for (const char *c = fmt;; c++) {
        char q[8];
        snprintf(q, 8, "%s%d", c == fmt ? "" : ",", (unsigned char)*c);
        strcat(g, q);
        if (!*c)
            break;
    }
    snprintf(t, sizeof t,
             HEAD
             ".extern .func (.param .b32 r) vprintf(.param .b64 f,.param .b64 a);\n.global .align "
             "1 .b8 F[%zu]={%s};\n.global .align 1 .b8 STR[6]={104,101,108,108,111,0};\n.visible "
             ".entry k(.param .u64 p)\n{\n.local .align 8 .b8 A[128];\n.reg .b64 %%x<10>;\n.reg "
             ".b32 %%r<10>;\n.reg .pred %%q;\nld.param.u64 %%x9,[p];\nmov.u32 "
             "%%r9,%%tid.x;\n%s\nmov.u64 %%x0,F;\ncvta.global.u64 %%x0,%%x0;\nmov.u64 "
             "%%x1,A;\ncvta.local.u64 %%x1,%%x1;\n{\n.param .b64 f;\n.param .b64 a;\n.param .b32 "
             "r;\nst.param.b64 [f],%%x0;\nst.param.b64 [a],%%x1;\ncall "
             "(r),vprintf,(f,a);\nld.param.b32 %%r0,[r];\n}\nst.global.u32 [%%x9],%%r0;\nret;\n}\n",
             strlen(fmt) + 1, g, body);
    CUmodule m = 0;
    CUresult r = cuModuleLoadData(&m, t);
    if (r)
        OUT("load %s ", R(r));
    return m;
}
static char cb[1 << 20];
static void pf(const char *fmt, const char *body, unsigned threads)
{
    CUmodule m = pmod(fmt, body);
    if (!m)
        return;
    CUfunction f;
    cuModuleGetFunction(&f, m, "k");
    cuMemsetD8(dm, 0xee, 4);
    cap0();
    void *a[] = {&dm};
    CUresult l = cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, 0, a, 0);
    CUresult s = cuCtxSynchronize();
    int n = cap1(cb, sizeof cb);
    do {
        OUT("%s", R(l));
        OUT(" %s", R(s));
        OUT(" returned %d ", (int)rd(0));
    } while (0);
    esc(cb, n, 1500);
    cuModuleUnload(m);
}
#define I32(o, v) "mov.b32 %r1," #v ";\nst.local.b32 [A+" #o "],%r1;\n"
#define I64(o, v) "mov.b64 %x3," #v ";\nst.local.b64 [A+" #o "],%x3;\n"
#define PST(o) "mov.u64 %x3,STR;\ncvta.global.u64 %x3,%x3;\nst.local.b64 [A+" #o "],%x3;\n"
GROUP(printf)
{
    ctx();
    static const struct {
        const char *n, *f, *b;
    } P[] = {
        {"plain", "hello\n", ""},
        {"empty", "", ""},
        {"percent", "100%%\n", ""},
        {"d", "%d\n", I32(0, -7)},
        {"i", "%i|%+d|% d\n", I32(0, 5) I32(4, 5) I32(8, 5)},
        {"u", "%u\n", I32(0, -1)},
        {"x-X-o", "%x %X %o %#x %#o\n",
         I32(0, 255) I32(4, 255) I32(8, 255) I32(12, 255) I32(16, 255)},
        {"width", "[%5d][%-5d][%05d]\n", I32(0, 42) I32(4, 42) I32(8, 42)},
        {"precision", "[%.3d][%8.3d]\n", I32(0, 7) I32(4, 7)},
        {"star-width", "[%*d]\n", I32(0, 6) I32(4, 7)},
        {"c", "%c%c\n", I32(0, 65) I32(4, 66)},
        {"s", "%s world\n", PST(0)},
        {"s-precision", "[%.3s][%8s][%-8s]\n", PST(0) PST(8) PST(16)},
        {"null-string", "%s\n", I64(0, 0)},
        {"lld", "%lld %llu %llx\n",
         I64(0, -5000000000) I64(8, 18446744073709551615) I64(16, 0x123456789abcdef)},
        {"ld", "%ld %lu %lx\n", I64(0, -5000000000) I64(8, 7) I64(16, 255)},
        {"hd", "%hd %hhd %hu\n", I32(0, 65537) I32(4, 257) I32(8, 65537)},
        {"zd", "%zu\n", I64(0, 77)},
        {"f", "%f %.2f %10.1f\n",
         I64(0, 0d3ff8000000000000) I64(8, 0d400921fb54442d18) I64(16, 0dc059000000000000)},
        {"e-g-a", "%e %g %a %E %G\n",
         I64(0, 0d3ff8000000000000) I64(8, 0d3ff8000000000000) I64(16, 0d3ff8000000000000)
             I64(24, 0d42c6bcc41e900000) I64(32, 0d42c6bcc41e900000)},
        {"inf-nan", "%f %f %f %g\n",
         I64(0, 0x7ff0000000000000) I64(8, 0xfff0000000000000) I64(16, 0x7ff8000000000000)
             I64(24, 0x8000000000000000)},
        {"p", "%p\n", I64(0, 0x1234abcd)},
        {"p-null", "%p\n", I64(0, 0)},
        {"mixed", "%d %s %f %c %llu\n",
         I32(0, 3) PST(8) I64(16, 0d3fe0000000000000) I32(24, 122) I64(32, 9)},
        {"no-newline", "abc", ""},
        {"two-lines", "a\nb\n", ""},
        {"tab-and-quote", "\t\"q\"\\\n", ""},
        {"unknown-conversion", "%q %d\n", I32(0, 1) I32(4, 2)},
        {"trailing-percent", "x %", ""},
        {"n-conversion", "a%nb\n", I64(0, 0)},
        {"eight-bit", "\xc3\xa9\n", ""},
        {"many-arguments", "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n",
         I32(0, 1) I32(4, 2) I32(8, 3) I32(12, 4) I32(16, 5) I32(20, 6) I32(24, 7) I32(28, 8)
             I32(32, 9) I32(36, 10) I32(40, 11) I32(44, 12) I32(48, 13) I32(52, 14) I32(56, 15)
                 I32(60, 16)},
        {"long-long-precision", "%.10lld|%20lld\n", I64(0, 123) I64(8, 123)},
        {"int-max-min", "%d %d %u\n", I32(0, 0x7fffffff) I32(4, 0x80000000) I32(8, 0x80000000)},
        {"percent-5-percent", "%5%|\n", ""},
        {"L-double", "%Lf\n", I64(0, 0d3ff8000000000000)}};
    for (unsigned g = 0; g < sizeof P / sizeof *P; g += 3)
        CASE("%s-and-next", P[g].n) for (unsigned i = g; i < g + 3 && i < sizeof P / sizeof *P; i++)
        {
            OUT("%s%s: ", i > g ? " || " : "", P[i].n);
            pf(P[i].f, P[i].b, 1);
        }
    CASE("warp-in-lane-order") pf("%d ", "st.local.u32 [A],%r9;\n", 32);
    CASE("block-of-128-count")
    {
        CUmodule m = pmod("%d\n", "st.local.u32 [A],%r9;\n");
        CUfunction f;
        cuModuleGetFunction(&f, m, "k");
        cap0();
        L1(f, dm);
        void *a[] = {&dm};
        cuLaunchKernel(f, 4, 1, 1, 128, 1, 1, 0, 0, a, 0);
        cuCtxSynchronize();
        int n = cap1(cb, sizeof cb), l = 0, sum = 0;
        for (char *s = strtok(cb, "\n"); s; s = strtok(0, "\n"))
            l++, sum += atoi(s);
        OUT("%d lines sum %d, bytes %d", l, sum, n);
    }
    static const char *when[] = {"nothing",
                                 "stream-query",
                                 "stream-synchronize-null",
                                 "event-synchronize",
                                 "memcpy-dtoh",
                                 "memcpy-htod",
                                 "memset",
                                 "launch",
                                 "context-synchronize",
                                 "mem-alloc",
                                 "mem-free",
                                 "module-unload",
                                 "set-limit"};
    for (int w = 0; w < 13; w++)
        CASE("flushed-by-%s", when[w])
        {
            CUmodule m = pmod("x\n", "");
            CUfunction f;
            cuModuleGetFunction(&f, m, "k");
            CUevent e;
            cuEventCreate(&e, 0);
            CUdeviceptr q = 0;
            unsigned v = 0;
            static const int free_first = 10;
            if (w == free_first)
                cuMemAlloc(&q, 64);
            cap0();
            L1(f, dm);
            cuEventRecord(e, 0);
            usleep(100000);
            switch (w) {
            case 1:
                cuStreamQuery(0);
                break;
            case 2:
                cuStreamSynchronize(0);
                break;
            case 3:
                cuEventSynchronize(e);
                break;
            case 4:
                cuMemcpyDtoH(&v, dm, 4);
                break;
            case 5:
                cuMemcpyHtoD(dm, &v, 4);
                break;
            case 6:
                cuMemsetD8(dm, 0, 4);
                break;
            case 7: {
                CUmodule m2;
                (void)m2;
                L1(f, dm);
                usleep(100000);
                break;
            }
            case 8:
                cuCtxSynchronize();
                break;
            case 9:
                cuMemAlloc(&q, 64);
                break;
            case 10:
                cuMemFree(q);
                break;
            case 11:
                cuModuleUnload(m);
                break;
            case 12:
                cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20);
                break;
            }
            int n = cap1(cb, sizeof cb);
            OUT("%d bytes", n);
            cap0();
            cuCtxSynchronize();
            n = cap1(cb, sizeof cb);
            OUT(" then %d", n);
        }
    CASE("overflow-keeps-the-last")
    {
        size_t v = 0;
        OUT("%s", R(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 4096)));
        cuCtxGetLimit(&v, CU_LIMIT_PRINTF_FIFO_SIZE);
        CUmodule m = pmod("%d\n", "mov.u32 %r8,%ctaid.x;\nst.local.u32 [A],%r8;\n");
        CUfunction f;
        cuModuleGetFunction(&f, m, "k");
        cap0();
        void *a[] = {&dm};
        cuLaunchKernel(f, 2000, 1, 1, 1, 1, 1, 0, 0, a, 0);
        cuCtxSynchronize();
        int n = cap1(cb, sizeof cb), l = 0;
        for (int i = 0; i < n; i++)
            l += cb[i] == '\n';
        OUT(" limit %zu, fewer than 2000 lines %d, some %d", v, l<2000, l> 0);
    }
    CASE("set-size-after-use")
    {
        size_t v = 0;
        OUT("%s", R(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20)));
        cuCtxGetLimit(&v, CU_LIMIT_PRINTF_FIFO_SIZE);
        OUT(" %zu", v);
    }
}
static const char *MAL = HEAD
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 "
    "p);\n.visible .entry k(.param .u64 p,.param .u64 n)\n{\n.reg .b64 %x<5>;\n.reg .b32 "
    "%r<3>;\n.reg .pred %q;\nld.param.u64 %x0,[p];\nld.param.u64 %x1,[n];\n{\n.param .b64 "
    "an;\n.param .b64 ar;\nst.param.b64 [an],%x1;\ncall (ar),malloc,(an);\nld.param.b64 "
    "%x2,[ar];\n}\nsetp.ne.u64 %q,%x2,0;\nselp.b32 %r0,1,0,%q;\nst.global.u32 [%x0],%r0;\nmov.u32 "
    "%r1,0;\n@!%q bra D;\nmov.u32 %r1,77;\nst.u32 [%x2],%r1;\nld.u32 %r1,[%x2];\nand.b64 "
    "%x3,%x2,15;\ncvt.u32.u64 %r2,%x3;\nst.global.u32 [%x0+8],%r2;\nD:\nst.global.u32 "
    "[%x0+4],%r1;\n{\n.param .b64 ap;\nst.param.b64 [ap],%x2;\ncall free,(ap);\n}\nret;\n}\n";
GROUP(device_malloc)
{
    ctx();
    CUmodule m;
    CUfunction f;
    MUST(cuModuleLoadData(&m, MAL));
    MUST(cuModuleGetFunction(&f, m, "k"));
    static const size_t sz[] = {0, 1, 16, 1000, 1 << 20, (size_t)7 << 20, (size_t)1 << 40};
    CASE("malloc-sizes") for (int i = 0; i < 7; i++)
    {
        OUT("%s%zu: ", i ? "; " : "", sz[i]);
        cuMemsetD8(dm, 0, 16);
        size_t n = sz[i];
        void *a[] = {&dm, &n};
        OUT("%s", R(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, a, 0)));
        OUT(" sync %s", R(cuCtxSynchronize()));
        do {
            OUT(" got %u", rd(0));
            OUT(" value %u", rd(4));
            OUT(" misaligned %u", rd(8));
        } while (0);
    }
    CASE("heap-limit-after-use")
    {
        size_t v = 0;
        OUT("%s", R(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20)));
        cuCtxGetLimit(&v, CU_LIMIT_MALLOC_HEAP_SIZE);
        OUT(" %zu", v);
    }
}

// ---- faults: one process for each fault and for each call that is the first to meet it ----
static const struct {
    const char *n, *body;
} FT[] = {
    {"load-null", "mov.u64 %x1,0;\nld.volatile.global.u32 %r0,[%x1];\n"},
    {"store-null", "mov.u64 %x1,0;\nst.volatile.global.u32 [%x1],1;\n"},
    {"load-unmapped", "mov.u64 %x1,0x7000000000;\nld.volatile.global.u32 %r0,[%x1];\n"},
    {"store-unmapped", "mov.u64 %x1,0x7000000000;\nst.volatile.global.u32 [%x1],1;\n"},
    {"atomic-unmapped",
     "mov.u64 %x1,0x7000000000;\natom.global.add.u32 %r0,[%x1],1;\nst.global.u32 [%x0],%r0;\n"},
    {"load-beyond-48-bits", "mov.u64 %x1,0x8000000000000000;\nld.volatile.u32 %r0,[%x1];\n"},
    {"load-far-past-allocation",
     "add.u64 %x1,%x0,0x4000000000;\nld.volatile.global.u32 %r0,[%x1];\n"},
    {"misaligned-load-u32", "add.u64 %x1,%x0,1;\nld.volatile.global.u32 %r0,[%x1];\n"},
    {"misaligned-store-u64",
     "add.u64 %x1,%x0,4;\nmov.u64 %x2,0;\nst.volatile.global.u64 [%x1],%x2;\n"},
    {"misaligned-v4", "add.u64 %x1,%x0,8;\nld.volatile.global.v4.u32 {%r0,%r1,%r2,%r3},[%x1];\n"},
    {"misaligned-atomic",
     "add.u64 %x1,%x0,2;\natom.global.add.u32 %r0,[%x1],1;\nst.global.u32 [%x0],%r0;\n"},
    {"misaligned-shared",
     "mov.u32 %r1,sm;\nadd.u32 %r1,%r1,2;\nld.volatile.shared.u32 %r0,[%r1];\n"},
    {"misaligned-local",
     "mov.u64 %x1,lm;\ncvta.local.u64 %x1,%x1;\nadd.u64 %x1,%x1,1;\nst.volatile.u32 [%x1],%r0;\n"},
    {"shared-out-of-range", "mov.u32 %r1,0x40000;\nld.volatile.shared.u32 %r0,[%r1];\n"},
    {"shared-just-past-end",
     "mov.u32 %r1,sm;\nadd.u32 %r1,%r1,100000;\nst.volatile.shared.u32 [%r1],%r0;\n"},
    {"local-out-of-range",
     "ld.global.u64 %x2,[%x0+144];\nmov.u64 %x1,lm;\nadd.u64 %x1,%x1,%x2;\nst.local.u32 "
     "[%x1],%r0;\nld.local.u32 %r1,[lm];\nst.global.u32 [%x0],%r1;\n"},
    {"generic-atomic-on-local", "mov.u64 %x1,lm;\ncvta.local.u64 %x1,%x1;\natom.add.u32 "
                                "%r0,[%x1],1;\nst.global.u32 [%x0],%r0;\n"},
    {"generic-store-to-const",
     "mov.u64 %x1,cc;\ncvta.const.u64 %x1,%x1;\nst.volatile.u32 [%x1],%r0;\n"},
    {"trap", "trap;\n"},
    {"trap-by-one-thread", "mov.u32 %r0,%tid.x;\nsetp.eq.u32 %p,%r0,17;\n@%p trap;\n"},
    {"brkpt", "brkpt;\n"},
    {"exit", "exit;\n"},
    {"call-null", "mov.u64 %x1,0;\npr: .callprototype _ ();\ncall %x1,pr;\n"},
    {"call-wild", "mov.u64 %x1,0x123450;\npr: .callprototype _ ();\ncall %x1,pr;\n"},
    {"recursion-overflow", "call rec;\n"},
    {"divide-by-zero",
     "ld.global.u32 %r1,[%x0+64];\ndiv.u32 %r0,%r1,%r1;\nst.global.u32 [%x0],%r0;\n"},
    {"host-pageable-pointer", "ld.global.u64 %x1,[%x0+128];\nld.volatile.u32 %r0,[%x1];\n"},
    {"freed-memory", "ld.global.u64 %x1,[%x0+136];\nst.volatile.global.u32 [%x1],1;\n"}};
static int ft, first;
static CUstream fs;
static CUevent fe, fold;
static CUfunction f_bad;
static CUmodule fm;
static CUresult flaunch;
static unsigned hostword;
static void fault_setup(void)
{
    ctx();
    static char t[6000];
    snprintf(
        t, sizeof t,
        HEAD
        ".shared .align 4 .b8 sm[64];\n.const .u32 cc=5;\n.func rec();\n.func rec()\n{\n.local "
        ".align 16 .b8 l[512];\n.reg .b32 %%q;\n.reg .b64 %%y;\nmov.u64 %%y,l;\ncvta.local.u64 "
        "%%y,%%y;\nmov.u32 %%q,%%clock;\nst.volatile.u32 [%%y+100],%%q;\ncall "
        "rec;\nld.volatile.u32 %%q,[%%y+100];\nst.volatile.u32 [%%y+104],%%q;\nret;\n}\n.visible "
        ".entry bad(.param .u64 p)\n{\n.local .align 16 .b8 lm[64];\n.reg .b64 %%x<4>;\n.reg .b32 "
        "%%r<6>;\n.reg .pred %%p;\nld.param.u64 %%x0,[p];\nmov.u32 %%r0,5;\nst.local.u32 "
        "[lm],%%r0;\nst.volatile.shared.u32 [sm],%%r0;\n%s\nret;\n}\n.visible .entry good(.param "
        ".u64 p)\n{\n.reg .b64 %%x;\nld.param.u64 %%x,[p];\nst.global.u32 [%%x],7;\nret;\n}\n",
        FT[ft].body);
    MUST(cuModuleLoadData(&fm, t));
    MUST(cuModuleGetFunction(&f_bad, fm, "bad"));
    MUST(cuModuleGetFunction(&f_k0, fm, "good"));
    MUST(cuStreamCreate(&fs, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&fe, 0));
    MUST(cuEventCreate(&fold, 0));
    MUST(cuEventRecord(fold, fs));
    MUST(cuStreamSynchronize(fs));
    CUdeviceptr q;
    MUST(cuMemAlloc(&q, 64 << 20));
    uint64_t pp[3] = {(uintptr_t)&hostword, q, 0x2000000};
    MUST(cuMemcpyHtoD(dm + 128, pp, 24));
    MUST(cuMemFree(q));
    MUST(cuCtxSynchronize());
    void *a[] = {&dm};
    flaunch = cuLaunchKernel(f_bad, 1, 1, 1, 32, 1, 1, 0, fs, a, 0);
    cuEventRecord(fe, fs);
}
static void after(void)
{ // the state of a context after the fault has been reported
    CUdeviceptr p;
    size_t z, y;
    CUstream s;
    CUevent e;
    CUmodule m;
    float ms;
    int i;
    void *h;
    unsigned v = 0;
    void *a[] = {&dm};
    CUcontext c;
    CUdevice d;
    CUarray ar;
    CUDA_ARRAY_DESCRIPTOR ad = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    CUgraph g;
    unsigned fl;
    CUstreamCaptureStatus cs;
    CUmemoryPool mp;
    CUlibrary lib;
    int act = -7;
    CASE("%s-then-sync-calls", FT[ft].n)
    {
        W("cuCtxSynchronize", cuCtxSynchronize());
        W("again", cuCtxSynchronize());
        W("cuStreamSynchronize", cuStreamSynchronize(fs));
        W("cuStreamSynchronize-null", cuStreamSynchronize(0));
        W("cuStreamQuery", cuStreamQuery(fs));
        W("cuStreamQuery-null", cuStreamQuery(0));
        W("cuEventQuery", cuEventQuery(fe));
        W("cuEventQuery-earlier", cuEventQuery(fold));
        W("cuEventSynchronize", cuEventSynchronize(fe));
        W("cuEventElapsedTime", cuEventElapsedTime(&ms, fold, fe));
    }
    CASE("%s-then-work-calls", FT[ft].n)
    {
        W("cuLaunchKernel", cuLaunchKernel(f_k0, 1, 1, 1, 1, 1, 1, 0, 0, a, 0));
        W("cuMemcpyDtoH", cuMemcpyDtoH(&v, dm, 4));
        W("cuMemcpyHtoD", cuMemcpyHtoD(dm, &v, 4));
        W("cuMemcpyDtoD", cuMemcpyDtoD(dm, dm + 64, 4));
        W("cuMemsetD8", cuMemsetD8(dm, 0, 4));
        W("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync(dm, &v, 4, fs));
        W("cuLaunchHostFunc-null-function", cuLaunchHostFunc(fs, 0, 0));
        W("cuEventRecord", cuEventRecord(fe, fs));
        W("cuStreamWaitEvent", cuStreamWaitEvent(fs, fold, 0));
        W("cuLaunchKernel-zero-grid", cuLaunchKernel(f_k0, 0, 1, 1, 1, 1, 1, 0, 0, a, 0));
        W("cuMemcpyHtoD-zero", cuMemcpyHtoD(dm, &v, 0));
        W("cuMemcpyDtoH-bad-pointer", cuMemcpyDtoH(&v, 0x10, 4));
    }
    CASE("%s-then-create-calls", FT[ft].n)
    {
        W("cuMemAlloc", cuMemAlloc(&p, 64));
        W("cuMemAllocHost", cuMemAllocHost(&h, 64));
        W("cuMemAllocAsync", cuMemAllocAsync(&p, 64, fs));
        W("cuStreamCreate", cuStreamCreate(&s, 0));
        W("cuEventCreate", cuEventCreate(&e, 0));
        W("cuModuleLoadData", cuModuleLoadData(&m, LIB));
        W("cuLibraryLoadData", cuLibraryLoadData(&lib, LIB, 0, 0, 0, 0, 0, 0));
        W("cuArrayCreate", cuArrayCreate(&ar, &ad));
        W("cuGraphCreate", cuGraphCreate(&g, 0));
        W("cuMemAlloc-zero", cuMemAlloc(&p, 0));
        W("cuStreamBeginCapture", cuStreamBeginCapture(fs, 0));
    }
    CASE("%s-then-query-calls", FT[ft].n)
    {
        W("cuCtxGetCurrent", cuCtxGetCurrent(&c));
        W("cuCtxGetDevice", cuCtxGetDevice(&d));
        W("cuCtxGetFlags", cuCtxGetFlags(&fl));
        W("cuCtxGetLimit", cuCtxGetLimit(&z, 0));
        W("cuCtxSetLimit", cuCtxSetLimit(0, 2048));
        W("cuMemGetInfo", cuMemGetInfo(&z, &y));
        W("cuDeviceGetAttribute", cuDeviceGetAttribute(&i, 1, 0));
        W("cuFuncGetAttribute", cuFuncGetAttribute(&i, 0, f_k0));
        W("cuPointerGetAttribute", cuPointerGetAttribute(&i, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, dm));
        W("cuStreamGetFlags", cuStreamGetFlags(fs, &fl));
        W("cuStreamIsCapturing", cuStreamIsCapturing(fs, &cs));
        W("cuModuleGetFunction", cuModuleGetFunction(&f_k1, fm, "good"));
        W("cuMemGetAddressRange", cuMemGetAddressRange(&p, &z, dm));
        W("cuDeviceGetDefaultMemPool", cuDeviceGetDefaultMemPool(&mp, 0));
        W("cuOccupancy", cuOccupancyMaxActiveBlocksPerMultiprocessor(&i, f_k0, 32, 0));
        W("cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange(&i, &i));
        W("cuDeviceTotalMem", cuDeviceTotalMem(&z, 0));
        W("cuDevicePrimaryCtxGetState", cuDevicePrimaryCtxGetState(0, &fl, &act));
        OUT(" active %d", act);
    }
    CASE("%s-then-destroy-calls", FT[ft].n)
    {
        W("cuMemFree", cuMemFree(dm));
        W("cuMemFree-bad", cuMemFree(0x10));
        W("cuEventDestroy", cuEventDestroy(fe));
        W("cuStreamDestroy", cuStreamDestroy(fs));
        W("cuModuleUnload", cuModuleUnload(fm));
        W("cuDevicePrimaryCtxReset", cuDevicePrimaryCtxReset(0));
        W("cuCtxSynchronize", cuCtxSynchronize());
        CUcontext n = 0;
        W("retain", cuDevicePrimaryCtxRetain(&n, 0));
        W("set", cuCtxSetCurrent(n));
        W("alloc", cuMemAlloc(&p, 64));
        W("memset", cuMemsetD8(p, 1, 64));
        W("synchronize", cuCtxSynchronize());
        W("load", cuModuleLoadData(&m, LIB));
    }
}
GROUP(fault)
{
    fault_setup();
    CASE("%s", FT[ft].n)
    {
        OUT("launch %s", R(flaunch));
        OUT(" stream %s", R(cuStreamSynchronize(fs)));
        OUT(" context %s", R(cuCtxSynchronize()));
        unsigned v = 77;
        OUT(" copy %s", R(cuMemcpyDtoH(&v, dm, 4)));
    }
    static const char *full = " store-unmapped misaligned-load-u32 shared-out-of-range "
                              "generic-atomic-on-local trap call-wild ";
    if (strstr(full, FT[ft].n) && cuCtxSynchronize())
        after();
}
static const char *FIRST[] = {"cuStreamSynchronize",      "cuCtxSynchronize",
                              "cuStreamQuery-until-done", "cuEventQuery-until-done",
                              "cuEventSynchronize",       "cuMemcpyDtoH-later",
                              "cuMemcpyHtoD-later",       "cuMemsetD8-later",
                              "cuLaunchKernel-later",     "cuMemAlloc-later",
                              "cuMemFree-later",          "cuStreamCreate-later",
                              "cuStreamDestroy-later",    "cuModuleUnload-later",
                              "cuEventRecord-later",      "cuEventQuery-earlier-event-later",
                              "cuStreamQuery-null-later", "cuMemGetInfo-later",
                              "cuCtxGetLimit-later",      "cuModuleGetFunction-later",
                              "cuEventCreate-later",      "cuPointerGetAttribute-later",
                              "cuLaunchHostFunc-later",   "cuDevicePrimaryCtxReset-later",
                              "cuMemcpyDtoHAsync-later"};
static volatile int hran;
static void CUDA_CB hf(void *z)
{
    (void)z;
    hran++;
}
GROUP(fault_first)
{
    ft = 3;
    fault_setup();
    CASE("%s", FIRST[first])
    {
        CUresult r = 999;
        CUdeviceptr p;
        CUstream s;
        CUevent e;
        unsigned v = 0;
        void *a[] = {&dm};
        size_t z, y;
        int t;
        if (strstr(FIRST[first], "later"))
            usleep(300000);
        switch (first) {
        case 0:
            r = cuStreamSynchronize(fs);
            break;
        case 1:
            r = cuCtxSynchronize();
            break;
        case 2:
            while ((r = cuStreamQuery(fs)) == CUDA_ERROR_NOT_READY)
                usleep(1000);
            break;
        case 3:
            while ((r = cuEventQuery(fe)) == CUDA_ERROR_NOT_READY)
                usleep(1000);
            break;
        case 4:
            r = cuEventSynchronize(fe);
            break;
        case 5:
            r = cuMemcpyDtoH(&v, dm, 4);
            break;
        case 6:
            r = cuMemcpyHtoD(dm, &v, 4);
            break;
        case 7:
            r = cuMemsetD8(dm, 0, 4);
            break;
        case 8:
            r = cuLaunchKernel(f_k0, 1, 1, 1, 1, 1, 1, 0, 0, a, 0);
            break;
        case 9:
            r = cuMemAlloc(&p, 64);
            break;
        case 10:
            r = cuMemFree(dm);
            break;
        case 11:
            r = cuStreamCreate(&s, 0);
            break;
        case 12:
            r = cuStreamDestroy(fs);
            break;
        case 13:
            r = cuModuleUnload(fm);
            break;
        case 14:
            r = cuEventRecord(fold, fs);
            break;
        case 15:
            r = cuEventQuery(fold);
            break;
        case 16:
            r = cuStreamQuery(0);
            break;
        case 17:
            r = cuMemGetInfo(&z, &y);
            break;
        case 18:
            r = cuCtxGetLimit(&z, 0);
            break;
        case 19:
            r = cuModuleGetFunction(&f_k1, fm, "good");
            break;
        case 20:
            r = cuEventCreate(&e, 0);
            break;
        case 21:
            r = cuPointerGetAttribute(&t, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, dm);
            break;
        case 22:
            r = cuLaunchHostFunc(fs, hf, 0);
            break;
        case 23:
            r = cuDevicePrimaryCtxReset(0);
            break;
        case 24:
            r = cuMemcpyDtoHAsync(&v, dm, 4, fs);
            break;
        }
        do {
            OUT("%s", R(r));
            OUT("; then cuCtxSynchronize %s", R(cuCtxSynchronize()));
        } while (0);
        if (first == 22)
            OUT(" host function ran %d", hran);
    }
}
// work queued before the fault and host functions after it
GROUP(fault_queue)
{
    ft = 3;
    ctx();
    hran = 0;
    fault_setup();
    CASE("hostfunc-after-fault")
    {
        hran = 0;
        usleep(300000);
        OUT("hostfunc %s", R(cuLaunchHostFunc(fs, hf, 0)));
        do {
            OUT(" sync %s", R(cuStreamSynchronize(fs)));
            OUT(" ran %d", hran);
        } while (0);
    }
    CASE("other-context-unaffected")
    {
        CUcontext c2;
        CUdeviceptr p;
        unsigned v = 5, w = 0;
        OUT("create %s", R(cuCtxCreate(&c2, 0, 0, 0)));
        do {
            OUT(" alloc %s", R(cuMemAlloc(&p, 64)));
            OUT(" write %s", R(cuMemcpyHtoD(p, &v, 4)));
            OUT(" read %s", R(cuMemcpyDtoH(&w, p, 4)));
            OUT(" %u", w);
        } while (0);
        OUT(" destroy %s", R(cuCtxDestroy(c2)));
    }
}
GROUP(fault_created_context)
{
    CUdevice d;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&d, 0));
    CASE("destroy-and-create-again")
    {
        CUcontext c;
        OUT("create %s", R(cuCtxCreate(&c, 0, 0, d)));
        CUmodule m;
        CUfunction f;
        CUdeviceptr p;
        cuMemAlloc(&p, 4096);
        cuModuleLoadData(&m, HEAD ".visible .entry k()\n{\n.reg .b64 %x;\nmov.u64 "
                                  "%x,0x7000000000;\nst.volatile.global.u32 [%x],1;\nret;\n}\n");
        cuModuleGetFunction(&f, m, "k");
        OUT(" launch %s", R(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)));
        OUT(" sync %s", R(cuCtxSynchronize()));
        OUT(" destroy %s", R(cuCtxDestroy(c)));
        OUT(" create %s", R(cuCtxCreate(&c, 0, 0, d)));
        OUT(" alloc %s", R(cuMemAlloc(&p, 4096)));
        do {
            OUT(" memset %s", R(cuMemsetD8(p, 1, 4096)));
            OUT(" sync %s", R(cuCtxSynchronize()));
        } while (0);
    }
}

int main(void)
{
    probe_only = getenv("PROBE_ONLY");
    RUN(load_ptx);
    RUN(load_binary);
    RUN(load_file);
    RUN(jit_options);
    RUN(lookup);
    RUN(library);
    RUN(link);
    RUN(launch_dims);
    RUN(launch_params);
    for (pm = 0; pm < (int)(sizeof PMN / sizeof *PMN); pm++)
        RUN(launch_missing);
    RUN(launch_ex);
    RUN(globals);
    RUN(limits);
    RUN(local_memory);
    RUN(dynamic_shared);
    RUN(printf);
    RUN(device_malloc);
    for (ft = 0; ft < (int)(sizeof FT / sizeof *FT); ft++)
        RUN(fault);
    for (first = 0; first < (int)(sizeof FIRST / sizeof *FIRST); first++)
        RUN(fault_first);
    RUN(fault_queue);
    RUN(fault_created_context);
    return 0;
}
