// SPDX-License-Identifier: MIT
// A window of an X server, with semaphores of the Vulkan layer: images are acquired with them, and
// presents wait for them and are held.
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <pthread.h>

#include "../vulkan_sync.h"

#include <vulkan/vulkan_xlib.h>

enum { SIDE = 64, MOST_IMAGES = 8, RED = 0xff0000, GREEN = 0x00ff00 };

static struct {
    Display *display;
    Window window;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkImage images[MOST_IMAGES];
    uint32_t count;
} w;

static void open_instance(void)
{
    static const char *const extensions[] = {VK_KHR_SURFACE_EXTENSION_NAME,
                                             VK_KHR_XLIB_SURFACE_EXTENSION_NAME};
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                 .pApplicationInfo = &app,
                                 .enabledExtensionCount = 2,
                                 .ppEnabledExtensionNames = extensions};
    vk_need_layer();
    if (vkCreateInstance(&info, NULL, &vk.instance))
        SKIP("Vulkan has no surfaces of X11 (VK_KHR_xlib_surface)");
    vk_choose_lavapipe();
}

static void open_window(void)
{
    w.display = XOpenDisplay(NULL);
    if (!w.display)
        SKIP("no X server");
    w.window =
        XCreateSimpleWindow(w.display, DefaultRootWindow(w.display), 0, 0, SIDE, SIDE, 0, 0, 0);
    XSelectInput(w.display, w.window, ExposureMask);
    XMapWindow(w.display, w.window);
    XEvent e;
    XWindowEvent(w.display, w.window, ExposureMask, &e);
    VkXlibSurfaceCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_XLIB_SURFACE_CREATE_INFO_KHR,
                                       .dpy = w.display,
                                       .window = w.window};
    VK(vkCreateXlibSurfaceKHR(vk.instance, &info, NULL, &w.surface));
    VkBool32 good = VK_FALSE;
    VK(vkGetPhysicalDeviceSurfaceSupportKHR(vk.physical, 0, w.surface, &good));
    if (!good)
        SKIP("lavapipe cannot present to this X server");
}

static void make_swapchain(VkSwapchainKHR old)
{
    VkSurfaceCapabilitiesKHR c;
    VkSurfaceFormatKHR formats[64];
    uint32_t count = 64;
    VK(vkGetPhysicalDeviceSurfaceCapabilitiesKHR(vk.physical, w.surface, &c));
    EXPECT(vkGetPhysicalDeviceSurfaceFormatsKHR(vk.physical, w.surface, &count, formats) >= 0);
    VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                     .surface = w.surface,
                                     .minImageCount = c.minImageCount,
                                     .imageFormat = formats[0].format,
                                     .imageColorSpace = formats[0].colorSpace,
                                     .imageExtent = {SIDE, SIDE},
                                     .imageArrayLayers = 1,
                                     .imageUsage = VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                                     .preTransform = c.currentTransform,
                                     .compositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
                                     .presentMode = VK_PRESENT_MODE_FIFO_KHR,
                                     .clipped = VK_TRUE,
                                     .oldSwapchain = old};
    VK(vkCreateSwapchainKHR(vk.device, &info, NULL, &w.swapchain));
    w.count = MOST_IMAGES;
    EXPECT(vkGetSwapchainImagesKHR(vk.device, w.swapchain, &w.count, w.images) >= 0);
}

static void open_all(void)
{
    static const char *const extensions[] = {
        VK_KHR_SWAPCHAIN_EXTENSION_NAME, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
        VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME, VK_KHR_EXTERNAL_FENCE_FD_EXTENSION_NAME};
    VkPhysicalDeviceTimelineSemaphoreFeatures timelines = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE};
    open_instance();
    open_window();
    vk_open_device(extensions, 4, &timelines);
    vks.get_semaphore =
        (PFN_vkGetSemaphoreFdKHR)vkGetDeviceProcAddr(vk.device, "vkGetSemaphoreFdKHR");
    make_swapchain(VK_NULL_HANDLE);
}

static void close_all(void)
{
    vkDestroySwapchainKHR(vk.device, w.swapchain, NULL);
    vkDestroySurfaceKHR(vk.instance, w.surface, NULL);
    vk_close();
    XCloseDisplay(w.display);
}

// ---- frames

static void barrier(VkCommandBuffer c, VkImage image, VkImageLayout from, VkImageLayout to)
{
    VkImageMemoryBarrier b = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                              .srcAccessMask = from ? VK_ACCESS_TRANSFER_WRITE_BIT : 0,
                              .dstAccessMask = from ? 0 : VK_ACCESS_TRANSFER_WRITE_BIT,
                              .oldLayout = from,
                              .newLayout = to,
                              .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                              .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                              .image = image,
                              .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(c, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         0, 0, NULL, 0, NULL, 1, &b);
}

// Returns commands that fill an image with a colour.
static VkCommandBuffer paint(VkImage image, unsigned rgb)
{
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = vk.pool,
                                        .commandBufferCount = 1};
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkClearColorValue colour = {.float32 = {rgb == RED, rgb == GREEN, 0, 1}};
    VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    VkCommandBuffer c;
    VK(vkAllocateCommandBuffers(vk.device, &info, &c));
    VK(vkBeginCommandBuffer(c, &begin));
    barrier(c, image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
    vkCmdClearColorImage(c, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, &colour, 1, &all);
    barrier(c, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_PRESENT_SRC_KHR);
    VK(vkEndCommandBuffer(c));
    return c;
}

static uint32_t acquire(bool is_2, VkSemaphore s)
{
    VkAcquireNextImageInfoKHR info = {.sType = VK_STRUCTURE_TYPE_ACQUIRE_NEXT_IMAGE_INFO_KHR,
                                      .swapchain = w.swapchain,
                                      .timeout = SECONDS_5,
                                      .semaphore = s,
                                      .deviceMask = 1};
    uint32_t index = 0;
    VkResult r =
        is_2 ? vkAcquireNextImage2KHR(vk.device, &info, &index)
             : vkAcquireNextImageKHR(vk.device, w.swapchain, SECONDS_5, s, VK_NULL_HANDLE, &index);
    EXPECT(r == VK_SUCCESS || r == VK_SUBOPTIMAL_KHR);
    return index;
}

static void show(uint32_t index, VkSemaphore wait)
{
    VkResult result = VK_INCOMPLETE;
    VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                             .waitSemaphoreCount = 1,
                             .pWaitSemaphores = &wait,
                             .swapchainCount = 1,
                             .pSwapchains = &w.swapchain,
                             .pImageIndices = &index,
                             .pResults = &result};
    VkResult r = vkQueuePresentKHR(vk.queue, &info);
    EXPECT(r == VK_SUCCESS || r == VK_SUBOPTIMAL_KHR);
    EXPECT_EQ(result, r);
}

// A frame: the image comes with `ready`, `line` has to reach a value, and the present waits for
// `painted`.
static void frame(bool is_2, VkSemaphore ready, VkSemaphore line, uint64_t value,
                  VkSemaphore painted, unsigned rgb)
{
    uint32_t index = acquire(is_2, ready);
    vks_submit((struct vks_batch){.wait = ready});
    vks_submit((struct vks_batch){.wait = line,
                                  .wait_value = value,
                                  .commands = paint(w.images[index], rgb),
                                  .signal = painted});
    show(index, painted);
}

static unsigned long pixel(void)
{
    XImage *image = XGetImage(w.display, w.window, SIDE / 2, SIDE / 2, 1, 1, AllPlanes, ZPixmap);
    unsigned long p = image ? XGetPixel(image, 0, 0) & 0xffffff : 0;
    if (image)
        XDestroyImage(image);
    return p;
}

static bool appears(unsigned long rgb)
{
    for (int i = 0; i < 5000 && pixel() != rgb; i++)
        usleep(1000);
    return pixel() == rgb;
}

// Presents wait for work that waits for CUDA. All semaphores are the layer's or all but `line` are
// the driver's.
static void present_after_cuda(bool is_2, bool exportable)
{
    open_all();
    test_context();
    VkSemaphore line = vks_timeline(0),
                ready = exportable ? vks_binary() : vks_drivers(VK_SEMAPHORE_TYPE_BINARY),
                painted = exportable ? vks_binary() : vks_drivers(VK_SEMAPHORE_TYPE_BINARY);
    CUexternalSemaphore c = vks_cuda(line, true);
    CUstream stream = new_stream();
    frame(is_2, ready, line, 0, painted, RED);
    EXPECT(appears(RED));
    VK(vkQueueWaitIdle(vk.queue)); // so that `ready` can be used again
    frame(is_2, ready, line, 1, painted, GREEN);
    EXPECT_EQ(pixel(), RED); // it is held
    EXPECT_OK(cu_signal(c, 1, stream));
    EXPECT(appears(GREEN));
    VK(vkDeviceWaitIdle(vk.device));
    vkDestroySemaphore(vk.device, line, NULL);
    vkDestroySemaphore(vk.device, ready, NULL);
    vkDestroySemaphore(vk.device, painted, NULL);
    close_all();
}

TEST(layers_semaphores)
{
    present_after_cuda(false, true);
}

TEST(layers_semaphores_acquire_2)
{
    present_after_cuda(true, true);
}

TEST(drivers_semaphores)
{
    present_after_cuda(true, false);
}

enum { FRAMES = 20 };

static void *count_up(void *line)
{
    for (uint64_t i = 1; i <= FRAMES; i++) {
        usleep(2000);
        vks_signal(*(VkSemaphore *)line, i);
    }
    return NULL;
}

// More frames than images: images are acquired while presents are held. The semaphores of a frame
// are used again after as many frames as there are images.
TEST(many_frames)
{
    open_all();
    VkSemaphore line = vks_timeline(0), ready[FRAMES], painted[FRAMES];
    pthread_t thread;
    EXPECT_EQ(pthread_create(&thread, NULL, count_up, &line), 0);
    for (uint64_t i = 0; i < FRAMES; i++) {
        ready[i] = vks_binary();
        painted[i] = vks_binary();
        frame(i & 1, ready[i], line, i + 1, painted[i], i == FRAMES - 1 ? GREEN : RED);
    }
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    EXPECT(appears(GREEN));
    VK(vkDeviceWaitIdle(vk.device));
    for (uint64_t i = 0; i < FRAMES; i++) {
        vkDestroySemaphore(vk.device, ready[i], NULL);
        vkDestroySemaphore(vk.device, painted[i], NULL);
    }
    vkDestroySemaphore(vk.device, line, NULL);
    close_all();
}

static void *signal_soon(void *line)
{
    usleep(20000);
    vks_signal(*(VkSemaphore *)line, 1);
    return NULL;
}

// The swapchain is replaced and destroyed while a present is held.
TEST(swapchain_ends)
{
    open_all();
    VkSemaphore line = vks_timeline(0), ready = vks_binary(), painted = vks_binary();
    VkSwapchainKHR old = w.swapchain;
    pthread_t thread;
    frame(false, ready, line, 1, painted, RED);
    EXPECT_EQ(pthread_create(&thread, NULL, signal_soon, &line), 0);
    make_swapchain(old);
    EXPECT_EQ(vks_value(line), 1);
    EXPECT_EQ(pthread_join(thread, NULL), 0);
    VK(vkDeviceWaitIdle(vk.device));
    vkDestroySwapchainKHR(vk.device, old, NULL);
    frame(true, ready, line, 1, painted, GREEN);
    EXPECT(appears(GREEN));
    VK(vkDeviceWaitIdle(vk.device));
    vkDestroySemaphore(vk.device, line, NULL);
    vkDestroySemaphore(vk.device, ready, NULL);
    vkDestroySemaphore(vk.device, painted, NULL);
    close_all();
}

TESTS(CASE(layers_semaphores), CASE(layers_semaphores_acquire_2), CASE(drivers_semaphores),
      CASE(many_frames), CASE(swapchain_ends))
