#version 450
// Draws one level of the image: red along x, green along y, blue tells the level; every eighth texel line is dark.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0, rgba8ui) uniform writeonly uimage2D level_image;
layout(push_constant) uniform Level { uint level; } push;

void main()
{
    ivec2 size = imageSize(level_image), at = ivec2(gl_GlobalInvocationID.xy);
    if (at.x >= size.x || at.y >= size.y)
        return;
    uint dark = ((at.x | at.y) & 7) == 0 ? 2 : 1;
    imageStore(level_image, at, uvec4(uint(at.x * 255) / uint(size.x) / dark, uint(at.y * 255) / uint(size.y) / dark, push.level * 28u, 255u));
}
